"""What is to be done with a ledger as a whole, as far as that is the same for every provider.

Pure. Owns the questions whose ledger it is, whether it is all there, and what its Zone is told of its class.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import refused, waiting
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.conversion.zone_class import PENDING
from controllers.ledger.binding import Binding
from controllers.ledger.class_rule import ClassJudgement, ClassRule, P, is_ours, judge_class
from controllers.ledger.view import LedgerView

PASSED_ON: Final = frozenset({Reason.INVALID_PROVIDER, Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED})
"""Verdicts on a class that its Zones carry as they are."""
IDENTITY_REASONS: Final = frozenset({Reason.INVALID_IDENTITY_REF, Reason.IDENTITY_NOT_RESOLVED})
"""The same for a provider whose classes have an identity."""


class Stage(Enum):
    """Where a ledger stands in its life."""

    LEAVE = auto()  # it is not ours
    WAIT = auto()  # parts of the ledger, or the parameters of its class, are not there yet, so its content is not known
    CLEAN_UP = auto()  # it is being deleted
    MAINTAIN = auto()


def stage_of(view: LedgerView, binding: Binding) -> Stage:
    """Return where a zone's ledger stands; it is whole and has a part 0 exactly when it is to be maintained."""
    if not view.parts or not is_our_ledger(view.parts[0], view.zone_class, binding):
        return Stage.LEAVE
    main = view.main
    if (main or view.parts[0]).deleting and view.parts[0].spec.provider.name != binding.provider_name:
        # A class that was made again for us does not make us know what another provider has left outside.
        return Stage.LEAVE
    if main is None:
        # Without part 0 nothing is known of the zone, unless what is left of it is going away.
        return Stage.CLEAN_UP if all(part.deleting for part in view.parts) else Stage.WAIT
    if main.deleting:
        return Stage.CLEAN_UP
    if set(main.spec.parts) - {part.spec.part for part in view.parts} or view.stored_class is PENDING:
        return Stage.WAIT
    return Stage.MAINTAIN


def is_our_ledger(unit: ZoneUnit, zone_class: ZoneClass | None, binding: Binding) -> bool:
    """Say whose a ledger is: by its class; without one the provider that the ledger is written for has to do."""
    if zone_class is None:
        return unit.spec.provider.name == binding.provider_name
    return is_ours(zone_class, binding)


def judge_class_of(
    view: LedgerView,
    main: ZoneUnit,
    binding: Binding,
    rule: ClassRule[P],
    passed_on: frozenset[Reason] = PASSED_ON,
) -> ClassJudgement[P]:
    """Return what the Zone is told of its class (Accepted), and what the provider's rule made of the class.

    Verdicts on the class with a reason that is not `passed_on` are told as ZoneClassNotAccepted.
    """
    name, zone_class = main.spec.zone.zone_class_ref.key, view.zone_class
    if zone_class is None:
        return ClassJudgement(waiting(Reason.ZONE_CLASS_NOT_RESOLVED, f"ZoneClass {name} does not exist."))
    ref = main.spec.provider
    if ref != binding.provider:
        message = f"The ledger is written for {ref.name}/{ref.version}, {binding.controller_name} runs "
        runs = f"{binding.provider_name}/{binding.provider_version}."
        return ClassJudgement(refused(Reason.INVALID_PROVIDER, f"{message}{runs}"))
    judgement = judge_class(view.stored_class or zone_class, view.provider, binding, rule)
    verdict = judgement.verdict
    if judgement.parameters is not None or verdict.reason in passed_on:
        return judgement
    return ClassJudgement(
        refused(Reason.ZONE_CLASS_NOT_ACCEPTED, f"ZoneClass {name} is not accepted: {verdict.reason}.")
    )
