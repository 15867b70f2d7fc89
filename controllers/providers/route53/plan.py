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
from controllers.providers.route53.change import Action, Change, size_of
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
    """One item's step.

    `held` is what is noted of it so far, `sending` what has to be noted before its changes are sent, `done` what is to be noted once they
    are accepted or nothing has to be done. `verdict` says why a record set is kept as it is, `left_behind` that a deletion leaves
    somebody else's record set where it is.
    """

    want: Want
    step: Step
    held: Mark | None = None
    sending: Mark | None = None
    done: Mark | None = None
    changes: tuple[Change, ...] = ()
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
TOO_LARGE: Final = refused(
    Reason.PROVIDER_INVALID_REQUEST,
    "To change it, more than 1,000 values or 32,000 characters would have to be sent at a time, which Route 53 does not take.",
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
        held = _valid(marks.get(want.key), zone_id, want.record_key)
        found = observed.get(want.record_key, ())
        if want.source.deletion_requested:
            decision = _delete(want, held, found)
            if decision.changes:
                taken.add(want.record_key)
        elif want.record_key in taken:
            decision = _keep(want, held, TWICE)
        else:
            taken.add(want.record_key)
            decision = _keep_up(want, held, found, Mark(zone_id, want.record_key))
        decisions[want.key] = decision
    return decisions


def _delete(want: Want, held: Mark | None, found: tuple[Record, ...]) -> Decision:
    if not found:
        return Decision(want, Step.GONE)
    # Beside one with a routing policy there is none of ours any more, which has never had one.
    if held is None or not _is_intended(held, found) or _is_routed(found):
        return Decision(want, Step.GONE, left_behind=True)
    # What is there is what has to be named, be it as we wrote it or not. Once that is done, nothing there is ours any more.
    change = Change(Action.DELETE, found[0], want.key)
    return Decision(want, Step.WRITE, held, held, replace(held, intent=NOTHING_IS), (change,))


def _keep_up(want: Want, held: Mark | None, found: tuple[Record, ...], ours: Mark) -> Decision:
    if not want.source.allowed:
        return _keep(want, held, NOT_ALLOWED)
    if want.record is None:
        return _keep(want, held)
    adopts = may_adopt(want.source.adoption)
    if not found:
        if held is None and adopts:
            return _keep(want, held, NOT_FOUND)
        intended = replace(ours, intent=fingerprint(want.record))
        return Decision(want, Step.WRITE, held, intended, ours, (Change(Action.CREATE, want.record, want.key),))
    if _is_routed(found):
        return _keep(want, held, ROUTED)
    same = found[0] == want.record
    if held is not None and _is_intended(held, found):
        return Decision(want, Step.NOTHING, held, done=ours) if same else _rewrite(want, want.record, found[0], ours)
    if adopts:
        return Decision(want, Step.ADOPT, done=ours) if same else _keep(want, None, DIFFERENT)
    return _keep(want, None, FOREIGN)


def _rewrite(want: Want, record: Record, found: Record, ours: Mark) -> Decision:
    """Put a record set in place of the one that is there.

    An UPSERT takes the limits of a batch twice; one that is too large for that is deleted and created instead, in the same batch.
    """
    upsert = Change(Action.UPSERT, record, want.key)
    if upsert.size.fits:
        return Decision(want, Step.WRITE, ours, ours, ours, (upsert,))
    pair = (Change(Action.DELETE, found, want.key), Change(Action.CREATE, record, want.key))
    if size_of([pair]).fits:
        return Decision(want, Step.WRITE, ours, ours, ours, pair)
    return _keep(want, ours, TOO_LARGE)


def _keep(want: Want, held: Mark | None, verdict: Verdict | None = None) -> Decision:
    return Decision(want, Step.KEEP, held, verdict=verdict)


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
