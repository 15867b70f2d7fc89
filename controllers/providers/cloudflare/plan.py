"""What is to be done to the records of each item, decided from what it wants, what is known of it and what is there.

Pure. A record is ours when its identifier stands in the item's status, when the item adopts it and it says what the item says, or when
it is what we were noted to create. No other record is ever changed or deleted: one that stands in the way is a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.desired import Desired, Item, Wanted
from controllers.providers.cloudflare.intent import RecordIntent
from controllers.providers.cloudflare.observation import Observation
from controllers.providers.cloudflare.record import CloudflareRecord
from zonemodel.record import RecordType

NOT_ALLOWED: Final = "The Zone no longer allows it; the records at Cloudflare stay as they are."
SHADOWED: Final = "Another RecordSet of the zone has the same name and type."
UNSURE: Final = "A request whose outcome is not known may still create records; they are waited for."
ADDRESSES: Final = frozenset({RecordType.A, RecordType.AAAA})
EVERYTHING: Final = frozenset(RecordType)

_EXCLUDED: Final[dict[RecordType, frozenset[RecordType]]] = {
    RecordType.A: frozenset({RecordType.CNAME, RecordType.NS}),
    RecordType.AAAA: frozenset({RecordType.CNAME, RecordType.NS}),
    RecordType.CNAME: frozenset({RecordType.A, RecordType.AAAA, RecordType.NS}),
    RecordType.NS: EVERYTHING - {RecordType.NS},
}
_BESIDE_NS_ONLY: Final = frozenset({RecordType.NS})


@dataclass(frozen=True, slots=True)
class Known:
    """What the ledger says of an item: identifiers from its status, and a note of what was about to be created."""

    ids: tuple[str, ...] = ()
    intent: RecordIntent | None = None


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """What is to be done for one item.

    `own` are the identifiers of the records that are ours and there. With a `verdict` nothing is done, and it says why; without one and
    without a change the records are what they should be. `gone`: a deletion is complete. `sure`: no further record can turn up.
    """

    item: Item
    own: tuple[str, ...] = ()
    change: Change = field(default_factory=Change)
    posted: tuple[Wanted, ...] = ()
    verdict: Verdict | None = None
    gone: bool = False
    adopted: bool = False
    sure: bool = True
    foreign: tuple[str, ...] = ()
    """Identifiers of the records of its name and type that are not ours, where they are what stands in the way."""
    unseen: tuple[str, ...] = ()
    """Identifiers of records that were ours and were not listed: gone, unless they turn up again."""

    @property
    def kept(self) -> tuple[str, ...]:
        """Identifiers of the records that are still there after the change, without those that it creates."""
        deleted = set(self.change.deletes)
        return tuple(each for each in self.own if each not in deleted)


def plan_item(item: Item, known: Known, found: Observation, grace: timedelta) -> ItemPlan:
    """Return the plan for one item; `grace` is how long a request of unknown outcome may still take effect."""
    sure = known.intent is None or found.at - known.intent.last > grace
    if item.source.deletion_requested:
        return _plan_deletion(item, known, found, sure)
    if not item.source.allowed:
        own = tuple(each.id for each in _owned(item, known, found))
        return ItemPlan(item, own, verdict=refused(Reason.PROVIDER_CHANGE_DEFERRED, NOT_ALLOWED), sure=sure)
    if item.desired is None:
        own = tuple(each.id for each in _owned(item, known, found))
        verdict = refused(Reason.PROVIDER_INVALID_REQUEST, f"spec.{item.fault}.")
        return ItemPlan(item, own, verdict=verdict, sure=sure)
    if item.adopts and not known.ids:
        return _plan_adoption(item, item.desired, found)
    owned = _owned(item, known, found)
    foreign = _foreign(item, owned, found)
    if foreign:
        verdict = refused(
            Reason.PROVIDER_CONFLICT,
            f"{item.source.type} {item.name} has {len(foreign)} record(s) at Cloudflare that no RecordSet manages; "
            "adopt them by spec.adoption.recordIDs, or remove them.",
        )
        others = tuple(each.id for each in foreign)
        return ItemPlan(item, tuple(each.id for each in owned), verdict=verdict, sure=sure, foreign=others)
    change, posted = _difference(item.desired, owned)
    own = tuple(each.id for each in owned)
    return ItemPlan(item, own, change, posted, sure=sure, unseen=tuple(each for each in known.ids if each not in own))


def refuse_blocked(plans: Sequence[ItemPlan], found: Observation) -> list[ItemPlan]:
    """Return the plans with those made conflicts whose records could not stand beside others that stay at their name."""
    settled = list(plans)
    while True:
        leaving = {each for plan in settled for each in plan.change.deletes}
        blocked = [_blocked(plan, leaving, found) for plan in settled]
        if all(new is old for new, old in zip(blocked, settled, strict=True)):
            return settled
        settled = blocked


def not_done(plan: ItemPlan, verdict: Verdict) -> ItemPlan:
    """Return a plan that changes nothing and takes nothing over, and says why."""
    own = () if plan.adopted else plan.own  # what was not taken over is the other one's, or nobody's
    return replace(plan, own=own, change=Change(), posted=(), verdict=verdict, adopted=False)


def refuse_shadowed(plans: Sequence[ItemPlan]) -> list[ItemPlan]:
    """Return the plans with all but the first of each name and type made conflicts, unless they only delete."""
    seen: set[tuple[str, RecordType]] = set()
    settled = []
    for plan in plans:
        identity = plan.item.name, plan.item.source.type
        if identity in seen and not plan.item.source.deletion_requested:
            plan = not_done(plan, refused(Reason.PROVIDER_CONFLICT, SHADOWED))
        elif not plan.item.source.deletion_requested:
            seen.add(identity)
        settled.append(plan)
    return settled


def _blocked(plan: ItemPlan, leaving: set[str], found: Observation) -> ItemPlan:
    if not (plan.change.posts or plan.change.patches):
        return plan
    excluded = _EXCLUDED.get(plan.item.source.type, _BESIDE_NS_ONLY)
    own = set(plan.own)
    blocking = sorted(
        {
            each.type
            for each in found.at_name(plan.item.name)
            if each.type in excluded and each.id not in leaving and each.id not in own
        }
    )
    if not blocking:
        return plan
    what = f"{plan.item.source.type} {plan.item.name} cannot stand beside the {', '.join(blocking)} records"
    verdict = refused(Reason.PROVIDER_CONFLICT, f"{what} that Cloudflare has at that name.")
    return replace(plan, change=Change(), posted=(), verdict=verdict)


def _plan_deletion(item: Item, known: Known, found: Observation, sure: bool) -> ItemPlan:
    owned = _owned(item, known, found)
    if not owned and item.adopts and not known.ids and item.desired is not None:
        # Only what an adoption would take over: records whose adoption was refused have never been ours.
        owned = found.with_ids(_plan_adoption(item, item.desired, found).own)
    if owned:
        ids = tuple(sorted(each.id for each in owned))
        return ItemPlan(item, ids, Change(deletes=ids), sure=sure)
    if not sure:
        return ItemPlan(item, verdict=refused(Reason.PROVIDER_CHANGE_PENDING, UNSURE), sure=False)
    return ItemPlan(item, gone=True)


def _plan_adoption(item: Item, desired: Desired, found: Observation) -> ItemPlan:
    """Adopt the complete set of a name and type when it says what the item says; nothing is changed for it."""
    there = found.with_ids(item.adopts)
    if len(there) < len(item.adopts):
        missing = sorted(set(item.adopts) - {each.id for each in there})
        message = f"Cloudflare has no record {missing[0]} in this zone ({len(missing)} of {len(item.adopts)} missing)."
        return ItemPlan(item, verdict=refused(Reason.EXTERNAL_RESOURCE_NOT_FOUND, message))
    more = [each for each in _at_identity(item, found) if each.id not in item.adopts]
    change, _ = _difference(desired, there)
    if more or change:
        reason = f"{len(more)} more record(s) of the name and type exist" if more else "they say something else"
        message = f"The records of spec.adoption.recordIDs are not what the RecordSet says: {reason}."
        return ItemPlan(item, verdict=refused(Reason.EXTERNAL_RESOURCE_MISMATCH, message))
    return ItemPlan(item, tuple(sorted(item.adopts)), adopted=True)


def _owned(item: Item, known: Known, found: Observation) -> list[CloudflareRecord]:
    """Return the records that are ours, by identifier."""
    owned = {each.id: each for each in found.with_ids(known.ids)}
    if known.intent is not None:
        others = [each for each in _at_identity(item, found) if each.id not in owned]
        owned |= {each.id: each for each in known.intent.claims(others)}
    return [owned[each] for each in sorted(owned)]


def _foreign(item: Item, owned: Iterable[CloudflareRecord], found: Observation) -> list[CloudflareRecord]:
    own = {each.id for each in owned}
    return [each for each in _at_identity(item, found) if each.id not in own]


def _at_identity(item: Item, found: Observation) -> list[CloudflareRecord]:
    return [each for each in found.at_name(item.name) if each.type == item.source.type]


def _difference(desired: Desired, owned: Sequence[CloudflareRecord]) -> tuple[Change, tuple[Wanted, ...]]:
    """Return what turns our records into the wanted ones, and which are created.

    Records that say what is wanted keep it; of the others as many as possible are patched, so that a CNAME always stays the same record.
    A record whose type somebody changed is replaced, since a deletion makes room for what comes after it.
    """
    usable = [each for each in owned if each.type == desired.type]
    deletes = [each.id for each in owned if each.type != desired.type]
    patches = []
    missing = []
    for wanted in desired.records:
        match = _best(desired, wanted, usable)
        if match is None:
            missing.append(wanted)
            continue
        usable.remove(match)
        if not desired.is_set_like(match):
            patches.append((match.id, desired.body(wanted)))
    spare, posted = usable[: len(missing)], missing[len(usable) :]
    patches += [(record.id, desired.body(wanted)) for record, wanted in zip(spare, missing, strict=False)]
    deletes += [each.id for each in usable[len(missing) :]]
    posts = tuple(desired.body(wanted) for wanted in posted)
    return Change(tuple(sorted(deletes)), tuple(sorted(patches, key=lambda each: each[0])), posts), tuple(posted)


def _best(desired: Desired, wanted: Wanted, usable: Iterable[CloudflareRecord]) -> CloudflareRecord | None:
    """Return the record that says what is wanted, one that needs no patch first."""
    matches = [each for each in usable if wanted.value in each.values]
    return min(
        matches,
        key=lambda each: (not desired.is_set_like(each), each.values.index(wanted.value), each.id),
        default=None,
    )
