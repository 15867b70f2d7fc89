"""`Contract`: one version of a Provider, compiled, as admission and composition use it.

Owns what the version says of claims, and the cache of compiled versions. Never resolves references, never reads an API.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from controllers.api.provider import ConversionWebhook, Provider, ProviderVersion
from controllers.api.reference import ProviderRef
from controllers.core.providercontract.compilation import Compilation, compile_version
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.payload import PayloadSchema
from controllers.core.providercontract.resolution import (
    Unresolved,
    find_version,
    no_provider,
    no_version,
    resolve_version,
    storage_version,
)
from controllers.core.providercontract.rule import CelConversion, RuleBook
from controllers.core.providercontract.target import STATUS_DATA, Target
from zonemodel.record import RecordType

CACHE_LIMIT: Final = 256


@dataclass(frozen=True, slots=True)
class Contract:
    """One version of a Provider; build it with `compile_contract`."""

    provider: str
    version: ProviderVersion
    _parts: Compilation

    @property
    def label(self) -> str:
        """The version as messages name it."""
        return f"{self.provider}/{self.version.name}"

    @property
    def pairs(self) -> RuleBook | None:
        """Rules and toggles over two record sets of one owner name, None when there are none."""
        return self._parts.pairs

    def book(self, target: Target) -> RuleBook | None:
        """Return the rules and toggles over a kind of claim, None when there are none."""
        return self._parts.books.get(target)

    def conversion(self, target: Target) -> CelConversion | None:
        """Return the expression that converts a kind's payloads to the storage version, when the version has one."""
        return self._parts.conversions.get(target)

    def webhook(self, target: Target) -> ConversionWebhook | None:
        """Return the webhook that converts a kind's payloads to the storage version, when the version has one."""
        declared = {
            Target.ZONE_CLASS: self.version.zone_class.conversion,
            Target.ZONE: self.version.zone.conversion,
            Target.RECORD_SET: self.version.record_set.conversion,
        }[target]
        return declared.to_storage.webhook if declared is not None else None

    def judge_type(self, record_type: Field) -> Iterator[Fault]:
        """Object to a record type that the version does not support."""
        supported = [each.value for each in self.version.record_set.supported_types]
        if record_type.text in list(RecordType) and record_type.text not in supported:
            allowed = f"a type that {self.label} supports: {', '.join(supported)}"
            yield record_type.fault(allowed, FaultReason.NOT_SUPPORTED)

    def judge_payload(self, target: Target, name: str, spec: Field, *, required: bool = False) -> Iterator[Fault]:
        """Object to the payload `name` of a claim's spec.

        An absent payload is judged as an empty object when it is `required`; one that the version has no schema for is refused.
        """
        yield from self._judge(self._parts.schemas.get((target, name)), spec.child(name), required)

    def judge_status_data(self, target: Target, data: Field) -> Iterator[Fault]:
        """Object to the public provider data in a status."""
        yield from self._judge(self._parts.schemas.get((target, STATUS_DATA)), data, required=False)

    def judge_withdrawal_data(self, data: Field) -> Iterator[Fault]:
        """Object to the public evidence in the status of a withdrawal."""
        yield from self._judge(self._parts.withdrawal_schema, data, required=False)

    def adds_reason(self, target: Target, kind: str, status: str, reason: str) -> bool:
        """Say whether the version declares a condition reason of its own."""
        declared = self.version.zone if target is Target.ZONE else self.version.record_set
        return any(
            (each.condition_type, each.status.value, each.reason) == (kind, status, reason)
            for each in declared.additional_condition_reasons
        )

    def _judge(self, schema: PayloadSchema | None, payload: Field, required: bool) -> Iterator[Fault]:
        if schema is not None:
            if payload.present or required:
                yield from schema.judge(payload if payload.present else Field(payload.path, {}))
        elif payload.present and payload.value != {}:
            yield payload.fault(f"nothing; {self.label} has no schema for it", FaultReason.INVALID_PROVIDER)


def compile_contract(provider: str, version: ProviderVersion) -> Contract | Unresolved:
    """Return a version compiled; it is unresolved when it has faults, for which admission would have refused the Provider."""
    label = f"{provider}/{version.name}"
    parts = compile_version(Field("", version.dump()), label)
    if parts.faults:
        return Unresolved(
            "version", f'"{version.name}", which is broken: {parts.faults[0]}', "a version without faults"
        )
    return Contract(provider, version, parts)


class Contracts:
    """Compiled versions, each compiled once for as long as its Provider says the same."""

    def __init__(self) -> None:
        self._compiled: dict[tuple[str, str], tuple[ProviderVersion, Contract | Unresolved]] = {}

    def resolve(self, provider: Provider | None, ref: ProviderRef) -> Contract | Unresolved:
        """Return the contract that a reference means; `provider` is the Provider of that name, None when there is none."""
        version = resolve_version(provider, ref)
        return version if isinstance(version, Unresolved) else self._get(ref.name, version)

    def find(self, provider: Provider | None, ref: ProviderRef) -> Contract | Unresolved:
        """Return the contract of a version that a ledger may still be written in, served or not."""
        if provider is None:
            return no_provider(ref.name)
        version = find_version(provider, ref.version)
        return self._get(ref.name, version) if version is not None else no_version(provider, ref)

    def storage(self, provider: Provider | None, name: str) -> Contract | Unresolved:
        """Return the contract that ledgers and statuses under the Provider `name` are written in."""
        if provider is None:
            return no_provider(name)
        version = storage_version(provider)
        if version is None:
            return Unresolved(
                "name", f'"{name}", which has not exactly one storage version', "a Provider with exactly one"
            )
        return self._get(name, version)

    def _get(self, provider: str, version: ProviderVersion) -> Contract | Unresolved:
        key = (provider, version.name)
        kept = self._compiled.get(key)
        if kept is not None and (kept[0] is version or kept[0] == version):
            return kept[1]
        compiled = compile_contract(provider, version)
        self._compiled.pop(key, None)
        if len(self._compiled) >= CACHE_LIMIT:
            self._compiled.pop(next(iter(self._compiled)))
        self._compiled[key] = (version, compiled)
        return compiled
