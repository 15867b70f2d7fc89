"""ZoneClasses in the storage version, for the controllers of a provider: those read parameters of one version only.

A class may name any version that its Provider serves; its parameters are judged by that version and converted. Reasons are those that a
ZoneClass can have. Never writes a status.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from controllers.api.provider import Provider
from controllers.api.reason import Reason
from controllers.api.reference import ProviderRef
from controllers.api.verdict import Verdict, refused, waiting
from controllers.api.zone_class import ZoneClass
from controllers.core.providercontract.contract import Contract, Contracts
from controllers.core.providercontract.conversion.desk import ConversionDesk
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome
from controllers.core.providercontract.conversion.request import ConversionKey, ConversionRequest
from controllers.core.providercontract.conversion.storage import plan_conversion, take_answer
from controllers.core.providercontract.environment import claim_variables
from controllers.core.providercontract.fault import Fault, tell
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.resolution import Unresolved
from controllers.core.providercontract.target import Target
from kube.object import ObjectKey

PENDING: Final = waiting(
    Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED, "Waiting for the conversion of the parameters to the storage version."
)
"""The answer while a webhook has been asked and has not spoken yet: nothing is known, so nothing should be said."""

StoredClass = ZoneClass | Verdict
Question = Verdict | Converted | Failed | ConversionRequest


@dataclass(slots=True)
class _Known:
    """What was found out about one state of a class under one state of its Provider."""

    zone_class: ZoneClass
    provider: Provider
    question: Question
    answer: Outcome | None = None
    stored: StoredClass | None = None


@dataclass(slots=True)
class StoredClasses:
    """Gives classes in the storage version; `runs` is the version of the Provider that the controllers are written for.

    The desk's owners are classes: whoever is notified of one looks at it again.
    """

    desk: ConversionDesk
    runs: ProviderRef
    contracts: Contracts = field(default_factory=Contracts)
    _known: dict[ObjectKey, _Known] = field(default_factory=dict)

    def get(self, zone_class: ZoneClass, provider: Provider | None) -> StoredClass:
        """Return the class with its parameters in the version `runs`, or what stands against that.

        A class that names another Provider, or one whose storage version is not `runs`, is returned as it is: it is for the
        controller to refuse.
        """
        ref = zone_class.spec.provider
        if provider is None or ref.name != self.runs.name or ref.version == self.runs.version:
            return zone_class
        storage = self.contracts.storage(provider, ref.name)
        if isinstance(storage, Unresolved):
            return waiting(Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED, f"{storage.message}.")
        if storage.version.name != self.runs.version:
            return zone_class
        served = self.contracts.resolve(provider, ref)
        if isinstance(served, Unresolved):
            return refused(Reason.INVALID_PROVIDER, f"{served.message}.")
        return self._convert(zone_class, provider, served, storage)

    def forget(self, key: ObjectKey) -> None:
        """Drop a class that has gone."""
        self._known.pop(key, None)
        self.desk.forget(key)

    def _convert(self, zone_class: ZoneClass, provider: Provider, served: Contract, storage: Contract) -> StoredClass:
        known = self._known.get(zone_class.key)
        if known is None or known.zone_class is not zone_class or known.provider is not provider:
            known = _Known(zone_class, provider, _question(zone_class, provider, served, storage))
            self._known[zone_class.key] = known
        question = known.question
        if not isinstance(question, ConversionRequest):
            self.desk.forget(zone_class.key)
            known.stored = known.stored or self._stored(zone_class, served, question)
            return known.stored
        answers = self.desk.ask(zone_class.key, [question])
        answer = answers.get(question.key)
        if known.stored is None or answer is not known.answer:
            known.answer = answer
            known.stored = self._stored(zone_class, served, take_answer(question, answers, storage))
        return known.stored

    def _stored(self, zone_class: ZoneClass, served: Contract, outcome: Outcome | Verdict | None) -> StoredClass:
        step = f"The conversion of the parameters from {served.version.name} to {self.runs.version}"
        match outcome:
            case None:
                return PENDING
            case Verdict():
                return outcome
            case Failed():
                return refused(Reason.INVALID_PARAMETERS, f"{step} failed: {outcome.message}.")
            case Converted():
                spec = {"provider": self.runs, "parameters": outcome.payloads.get("parameters")}
                return replace(zone_class, spec=zone_class.spec.model_copy(update=spec))
        return waiting(Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED, f"{step} is not available: {outcome.message}.")


def _question(zone_class: ZoneClass, provider: Provider, served: Contract, storage: Contract) -> Question:
    parameters = {"parameters": zone_class.spec.parameters or {}}
    faults = list(_faults(zone_class, served))
    if faults:
        return refused(Reason.INVALID_PARAMETERS, f"{tell(faults)}.")
    plan = plan_conversion(Target.ZONE_CLASS, parameters, served, storage)
    if isinstance(plan, Converted | Failed):
        return plan
    meta = zone_class.meta
    return ConversionRequest(
        key=ConversionKey(meta.uid, meta.generation, provider.meta.uid, provider.meta.generation),
        webhook=plan,
        target=Target.ZONE_CLASS,
        provider=served.provider,
        from_version=served.version.name,
        to_version=storage.version.name,
        payload=parameters,
        context={},
    )


def _faults(zone_class: ZoneClass, served: Contract) -> Iterator[Fault]:
    spec, meta = zone_class.spec.dump(), zone_class.meta
    yield from served.judge_payload(Target.ZONE_CLASS, "parameters", Field("spec", spec), required=True)
    if (book := served.book(Target.ZONE_CLASS)) is not None:
        metadata = {"name": meta.name, "namespace": meta.namespace, "labels": dict(meta.labels)}
        values = book.admit(claim_variables({"metadata": metadata, "spec": spec}))
        if isinstance(values, Fault):
            yield values
        else:
            judgement = book.judge(values)
            yield from (*judgement.faults, *judgement.failures)
