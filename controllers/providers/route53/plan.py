"""What is to be done about each item of the ledger, from what is wanted, what is ours and what Route 53 holds.

Pure. Owns the rule whose a record set is: ours is what we have noted down as ours, or what an adoption allows us to take over unchanged.
Everything else is left as it is. Never sends anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.providers.route53.change import Action, Change
from controllers.providers.route53.payload import may_adopt
from controllers.providers.route53.record import Observed, Record, RecordKey, fingerprint
from controllers.providers.route53.state import Mark
from controllers.providers.route53.want import Want
from kube.object import ObjectKey


class Step(Enum):
    """What is to be done."""

    NOTHING = auto()  # it is there as it should be
    ADOPT = auto()  # it is there as it should be, and becomes ours
    WRITE = auto()  # the change has to be sent
    GONE = auto()  # it is not there any more, or it never was ours
    KEEP = auto()  # it is not to be changed


@dataclass(frozen=True, slots=True)
class Decision:
    """One item's step; `mark` is what is to be noted of it when the step is done, `held` what is noted of it as long as it is not.

    `verdict` says why a record set is kept as it is, `left_behind` that a deletion leaves somebody else's record set where it is.
    """

    want: Want
    step: Step
    mark: Mark | None = None
    held: Mark | None = None
    change: Change | None = None
    verdict: Verdict | None = None
    left_behind: bool = False


NOTHING_IS: Final = "nothing"
"""The intent of a deletion: no record set has this fingerprint."""

_ROUTING: Final = frozenset({"SetIdentifier", "TrafficPolicyInstanceId"})

NOT_ALLOWED: Final = refused(
    Reason.PROVIDER_CHANGE_DEFERRED, "The Zone no longer allows it; what is in Route 53 stays as it is."
)
TWICE: Final = refused(Reason.PROVIDER_CONFLICT, "Another RecordSet of the Zone has the same name and type.")
FOREIGN: Final = refused(
    Reason.PROVIDER_CONFLICT,
    "The hosted zone has a record set of this name and type that dns-api did not make. To take it over as it is, give it "
    "spec.adoption.enabled.",
)
ROUTED: Final = refused(
    Reason.PROVIDER_CONFLICT,
    "The hosted zone has record sets of this name and type with a routing policy; dns-api leaves those alone.",
)
NOT_FOUND: Final = refused(
    Reason.EXTERNAL_RESOURCE_NOT_FOUND, "The hosted zone has no record set of this name and type to adopt."
)
DIFFERENT: Final = refused(
    Reason.EXTERNAL_RESOURCE_MISMATCH,
    "The record set to adopt has another TTL, other values or another alias target than the RecordSet says.",
)


def plan(
    zone_id: str, wants: Iterable[Want], marks: Mapping[ObjectKey, Mark], observed: Observed
) -> dict[ObjectKey, Decision]:
    """Return a decision for each item of a zone."""
    taken: set[RecordKey] = set()
    decisions: dict[ObjectKey, Decision] = {}
    # What is to be deleted comes first: its name and type are free for another item only afterwards.
    for want in sorted(wants, key=lambda each: not each.source.deletion_requested):
        mark = _valid(marks.get(want.key), zone_id, want.record_key)
        found = observed.get(want.record_key, ())
        if want.source.deletion_requested:
            decision = _delete(want, mark, found)
            if decision.step is Step.WRITE:
                taken.add(want.record_key)
        elif want.record_key in taken:
            decision = Decision(want, Step.KEEP, mark, mark, verdict=TWICE)
        else:
            taken.add(want.record_key)
            decision = _keep_up(zone_id, want, mark, found)
        decisions[want.key] = decision
    return decisions


def _delete(want: Want, mark: Mark | None, found: tuple[Record, ...]) -> Decision:
    if not found:
        return Decision(want, Step.GONE)
    if mark is None or not _is_intended(mark, found):
        return Decision(want, Step.GONE, left_behind=True)
    if _is_routed(found):
        return Decision(want, Step.KEEP, mark, mark, verdict=ROUTED)
    # What is there is what has to be named, be it as we wrote it or not. Once that is done, nothing there is ours any more.
    return Decision(want, Step.WRITE, replace(mark, intent=NOTHING_IS), mark, Change(Action.DELETE, found[0], want.key))


def _keep_up(zone_id: str, want: Want, mark: Mark | None, found: tuple[Record, ...]) -> Decision:
    if not want.source.allowed:
        return Decision(want, Step.KEEP, mark, mark, verdict=NOT_ALLOWED)
    if want.record is None:
        return Decision(want, Step.KEEP, mark, mark)
    adopts = may_adopt(want.source.adoption)
    owned = Mark(zone_id, want.record_key)
    if not found:
        if mark is None and adopts:
            return Decision(want, Step.KEEP, verdict=NOT_FOUND)
        intended = Mark(zone_id, want.record_key, intent=fingerprint(want.record))
        return Decision(want, Step.WRITE, intended, mark, Change(Action.CREATE, want.record, want.key))
    if _is_routed(found):
        return Decision(want, Step.KEEP, mark, mark, verdict=ROUTED)
    same = found[0] == want.record
    if mark is not None and _is_intended(mark, found):
        if same:
            return Decision(want, Step.NOTHING, owned)
        return Decision(want, Step.WRITE, owned, owned, Change(Action.UPSERT, want.record, want.key))
    if adopts:
        return Decision(want, Step.ADOPT, owned) if same else Decision(want, Step.KEEP, verdict=DIFFERENT)
    return Decision(want, Step.KEEP, verdict=FOREIGN)


def _valid(mark: Mark | None, zone_id: str, key: RecordKey) -> Mark | None:
    """A mark of another hosted zone or record set says nothing about this one; changes are not under way when this is asked."""
    if mark is None or (mark.hosted_zone_id, mark.key) != (zone_id, key):
        return None
    return replace(mark, change=None) if mark.change is not None else mark


def _is_routed(found: tuple[Record, ...]) -> bool:
    """Say whether there are several, or one that a routing policy or a traffic policy governs: no simple one can take its place."""
    return len(found) != 1 or not _ROUTING.isdisjoint(found[0].wire)


def _is_intended(mark: Mark, found: tuple[Record, ...]) -> bool:
    """Say whether what is there is ours: what was only about to be created is so as it was meant, and not otherwise."""
    return mark.intent is None or any(fingerprint(record) == mark.intent for record in found)
