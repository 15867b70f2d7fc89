"""What one look at a zone starts from, and what is to be told at its end.

Pure. Owns the reading of the ledger's notes and the verdicts while Route 53 is not asked. Never decides whether it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.group import RECONCILE_REQUEST
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_unit import UnitRecordSetStatus, ZoneUnit, ZoneUnitStatus
from controllers.ledger.identity import READY, current
from controllers.ledger.result import Facts, ItemResult, ZoneResult
from controllers.ledger.standing import IDENTITY_REASONS, PASSED_ON
from controllers.ledger.view import LedgerView
from controllers.providers.route53.class_rule import Terms
from controllers.providers.route53.hosted_zone import Finding
from controllers.providers.route53.identity.resource import Route53Identity
from controllers.providers.route53.memory import Memory, Token
from controllers.providers.route53.state import Mark, Notes, read_mark, read_notes
from controllers.providers.route53.upkeep import NOT_READY, PROGRAMMED, Results, unobserved
from controllers.providers.route53.want import Want, Wants
from kube.object import ObjectKey
from zonemodel.name import Fqdn

UNACCEPTED: Final = waiting(Reason.RECONCILING, "Route 53 is left as it is until the Zone is accepted.")
NO_HOSTED_ZONE: Final = refused(
    Reason.PROVIDER_CHANGE_DEFERRED, "It waits for the hosted zone, see the conditions of the Zone."
)
REASONS: Final = PASSED_ON | IDENTITY_REASONS
"""Verdicts on a class that its Zones carry as they are."""
CARRIED: Final = REASONS | {Reason.ZONE_CLASS_NOT_RESOLVED}
"""Verdicts on a Zone that its items carry as they are."""

StatusOf = Callable[[ZoneUnit], ZoneUnitStatus]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one look brought: the zone's result, those of its items, and how long what was found out holds, in seconds."""

    zone: ZoneResult
    items: Results
    holds_s: float


@dataclass(frozen=True, slots=True)
class Look:
    """What one look starts from; `standing` are the results that say Programmed, are of the present generation and stay."""

    view: LedgerView
    main: ZoneUnit
    wants: tuple[Wants, ...]
    notes: Notes
    marks: dict[ObjectKey, Mark]
    standing: Results

    @property
    def all_wants(self) -> list[Want]:
        return [want for row in self.wants for want in row]

    @property
    def leaving(self) -> list[Want]:
        """Items that are ours in Route 53 and are to be deleted there."""
        return [want for want in self.all_wants if want.source.deletion_requested and want.key in self.marks]


def look_at(view: LedgerView, main: ZoneUnit, memory: Memory, status_of: StatusOf) -> Look:
    """Return what a look starts from; `status_of` gives a part's status with our own writes in it."""
    status = status_of(main)
    entries = {entry.key: entry for part in view.parts for entry in status_of(part).record_sets}
    wants = memory.wants.wants_of(view.parts, Fqdn(main.spec.zone.domain_name))
    # What is to be deleted is told why it is still there, not that it is.
    generations = {
        want.key: want.source.observed_generation for row in wants for want in row if not want.source.deletion_requested
    }
    return Look(
        view=view,
        main=main,
        wants=wants,
        notes=read_notes(status.provider.state if status.provider is not None else None),
        marks=dict(_marks(entries)),
        standing={
            key: ItemResult(PROGRAMMED)
            for key, entry in entries.items()
            if entry.observed_generation == generations.get(key) and _is_programmed(entry)
        },
    )


def token_of(view: LedgerView, terms: Terms | None, verdict: Verdict) -> Token:
    """Return everything outside of Route 53 that a look depends on."""
    units = tuple((part.key, part.meta.uid, part.meta.generation, part.deleting) for part in view.parts)
    request = view.parts[0].meta.annotations.get(RECONCILE_REQUEST)
    identity = (terms.identity.meta.uid, terms.identity.meta.generation, is_ready(terms.identity)) if terms else None
    return units, request, terms.parameters if terms else None, identity, verdict


def zone_token(look: Look, terms: Terms) -> Token:
    """Return everything outside of Route 53 that the hosted zone itself depends on."""
    request = look.main.meta.annotations.get(RECONCILE_REQUEST)
    zone, spec = look.main.spec.zone, terms.identity.spec
    return request, look.notes.hosted_zone_id, zone.domain_name, repr(zone.adoption), terms.parameters, spec


def is_ready(identity: Route53Identity) -> bool:
    """Say whether the identity's credential was found to work as it is now."""
    ready = current(identity, READY)
    return ready is not None and ready.status is ConditionStatus.TRUE


def idle(look: Look, accepted: Verdict, programmed: Verdict, holds_s: float) -> Outcome:
    """Return what is told while Route 53 is not asked at all."""
    standing = {} if programmed is NOT_READY else look.standing
    items = unobserved(look.all_wants, look.marks, programmed, item_acceptance(accepted), standing)
    return Outcome(ZoneResult(accepted, programmed), items, holds_s)


def zone_result(finding: Finding, notes: Notes) -> ZoneResult:
    """Return what is told of the zone after its hosted zone was looked at."""
    zone_id = notes.hosted_zone_id
    data: Facts = {"hostedZoneID": zone_id} if zone_id is not None else {}
    unaccepted = None if finding.accepted.accepted else UNACCEPTED
    return ZoneResult(
        accepted=finding.accepted,
        programmed=unaccepted or finding.programmed or PROGRAMMED,
        name_servers=finding.zone.name_servers if finding.zone is not None else None,
        data=data,
        ledger_state=notes.dump(),
    )


def item_acceptance(zone: Verdict) -> Verdict:
    """Return what items are told of their zone's acceptance."""
    if zone.accepted:
        return ACCEPTED
    if zone.reason in CARRIED:
        return zone
    return refused(Reason.ZONE_NOT_ACCEPTED, f"The Zone is not accepted: {zone.reason}.")


def _marks(entries: Mapping[ObjectKey, UnitRecordSetStatus]) -> Iterator[tuple[ObjectKey, Mark]]:
    for key, entry in entries.items():
        mark = read_mark(entry.provider.state if entry.provider is not None else None)
        if mark is not None:
            yield key, mark


def _is_programmed(entry: UnitRecordSetStatus) -> bool:
    found = find_condition(entry.conditions, ConditionType.PROGRAMMED)
    return found is not None and found.status is ConditionStatus.TRUE
