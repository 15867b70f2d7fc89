"""Ownership in a hosted zone that several programs write to: what the zone itself tells of who owns which record sets.

Owns the judgement on decisions by it, and the order of claims: they stand in the zone before the first write and go after the last
deletion. A zone whose claims cannot be told freezes deletions; it never freezes reads. Without ownership nothing here is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from controllers.api.verdict import Verdict
from controllers.ledger.ownership import RESERVED, foreign_verdict, frozen_verdict, kept_verdict, unclaimed_verdict
from controllers.providers.route53.change import Action, Change
from controllers.providers.route53.claim import (
    claimable,
    claimed,
    claims_to,
    held_claims,
    members_of_record,
    ownership_of,
)
from controllers.providers.route53.client import Account
from controllers.providers.route53.failure import Failure, Unavailable
from controllers.providers.route53.ownership.backend import NOBODY, HostedZoneOwnership, ListedOwnership
from controllers.providers.route53.plan import FOREIGN, Decision, Step
from controllers.providers.route53.record import Observed, Record, RecordKey
from controllers.providers.route53.state import Mark
from kube.object import ObjectKey
from ownership.entry import Entry
from ownership.error import AmbiguousError, FormatError, OwnershipError, RefusedError, SnapshotTooLargeError
from ownership.member import Member
from ownership.naming import PAGE_LABEL, OwnerID, owner_hash, owner_state_name, quoted, tells_ownership
from ownership.publish import Publisher
from ownership.view import Holder, ZoneOwnership, read_ownership
from zonemodel.name import Fqdn

Decisions = dict[ObjectKey, Decision]
Replan = Callable[[Mapping[ObjectKey, Mark]], Decisions]
"""Returns the decisions with further marks in force."""

_LASTING: Final = (RefusedError, AmbiguousError, SnapshotTooLargeError, FormatError)
_APEX: Final = frozenset({"NS", "SOA"})
_STANDING: Final = frozenset({Step.NOTHING, Step.ADOPT})


@dataclass(frozen=True, slots=True)
class Claims:
    """What is to be said in the zone, by the item that it is said for."""

    added: Mapping[ObjectKey, frozenset[Entry]] = field(default_factory=dict)
    gone: Mapping[ObjectKey, frozenset[Entry]] = field(default_factory=dict)
    faults: Mapping[ObjectKey, FormatError] = field(default_factory=dict)
    """Items that cannot be claimed at all."""

    def __bool__(self) -> bool:
        return bool(self.added or self.gone)


@dataclass(slots=True)
class OwnershipDesk:
    """One look at one hosted zone as one owner; `living` are the record sets that some item of the ledger is to have."""

    account: Account
    zone_id: str
    zone: Fqdn
    owner: OwnerID
    living: Collection[RecordKey]
    error: OwnershipError | None = None
    stopped: bool = False
    """Whether something waits for the zone's claims to become clear."""
    _backend: HostedZoneOwnership | None = None
    _view: ZoneOwnership | None = None

    @property
    def failure(self) -> Failure | None:
        """What ended the asking, where trying again soon may help."""
        if self.error is None or isinstance(self.error, _LASTING):
            return None
        return Unavailable(str(self.error))

    @property
    def waits(self) -> bool:
        """Whether somebody has to do something about the zone, so that it is looked at again later."""
        return self.stopped or isinstance(self.error, _LASTING)

    async def judge(self, decisions: Decisions, observed: Observed, replan: Replan) -> Decisions:
        """Return the decisions with lost record sets taken back, those of others named, and deletions frozen where need be."""
        decisions = self._without_reserved(decisions)
        self._backend = HostedZoneOwnership(self.account, self.zone_id, self.zone, observed)
        view = await read_ownership(ListedOwnership(self.zone, observed), self.owner)
        claims = self._claims(decisions, decisions, view)
        if claims or any(map(_matters, decisions.values())):
            try:
                view = await read_ownership(self._backend, self.owner)
            except OwnershipError as error:
                self.error = error
                verdict = unclaimed_verdict(error)
                return {
                    key: _held(each, verdict)
                    if _matters(each) or (key in claims.gone and each.step is Step.GONE)
                    else each
                    for key, each in decisions.items()
                }
        self._view = view
        lost = {
            key: Mark(self.zone_id, each.want.record_key)
            for key, each in decisions.items()
            if self._is_lost(each, observed, view)
        }
        if lost:
            decisions = self._without_reserved(replan(lost))
        return {key: self._judged(each, observed, view) for key, each in decisions.items()}

    def claims(self, decisions: Decisions, queued: Collection[ObjectKey]) -> Claims:
        """Return what is to be said in the zone before the queued items are changed, and after others are gone."""
        return self._claims(decisions, queued, self._view) if self._view is not None else Claims()

    async def publish(self, claims: Claims) -> Verdict | None:
        """Have the zone say it; returns what keeps it from that, None when it is said."""
        assert self._backend is not None, "claims come after a judgement"
        added = frozenset[Entry]().union(*claims.added.values())
        gone = frozenset[Entry]().union(*claims.gone.values()) - added
        try:
            publisher = Publisher(self._backend, self.owner)
            await (publisher.change(added, gone) if added else publisher.withdraw(gone))
        except OwnershipError as error:
            self.error = error
            return unclaimed_verdict(error)
        return None

    def _claims(self, decisions: Decisions, queued: Collection[ObjectKey], view: ZoneOwnership) -> Claims:
        added, gone, faults = {}, {}, {}
        for key, decision in decisions.items():
            try:
                more, less = self._change(decision, view, is_queued=key in queued)
            except FormatError as error:
                faults[key] = error
                continue
            if more:
                added[key] = more
            if less:
                gone[key] = less
        return Claims(added, gone, faults)

    def _change(
        self, decision: Decision, view: ZoneOwnership, *, is_queued: bool
    ) -> tuple[frozenset[Entry], frozenset[Entry]]:
        """Return the claims to add for an item and those to take back. Raises FormatError."""
        want = decision.want
        held = frozenset(held_claims(view, want.record_key))
        if decision.step is Step.GONE:
            return frozenset(), held if want.record_key not in self.living else frozenset()
        writes = is_queued and bool(decision.changes) and not want.source.deletion_requested
        if want.record is None or not (writes or decision.step in _STANDING):
            return frozenset(), frozenset()
        known, wanted = {claimed(each) for each in held}, claimable(want.record)
        added = claims_to(self.owner, Fqdn(want.record_key.name), wanted - known)
        if decision.step not in _STANDING:
            return added, frozenset()
        return added, frozenset(each for each in held if claimed(each) not in wanted)

    def _without_reserved(self, decisions: Decisions) -> Decisions:
        """Return the decisions with nothing written or adopted where the zone tells who owns what."""
        return {
            key: _held(each, RESERVED)
            if (each.changes or each.step is Step.ADOPT)
            and not each.want.source.deletion_requested
            and tells_ownership(Fqdn(each.want.record_key.name), self.zone)
            else each
            for key, each in decisions.items()
        }

    def _is_lost(self, decision: Decision, observed: Observed, view: ZoneOwnership) -> bool:
        """Say whether a record set that nothing is known of is all our own claims."""
        found = observed.get(decision.want.record_key, ())
        if not _is_foreign(decision) or len(found) != 1:
            return False
        members = members_of_record(found[0])
        mine = {each.marker.member.identity for each in held_claims(view, decision.want.record_key)}
        return members is not None and bool(members) and members <= mine

    def _judged(self, decision: Decision, observed: Observed, view: ZoneOwnership) -> Decision:
        found = observed.get(decision.want.record_key, ())
        if len(found) != 1:
            return decision
        if decision.left_behind and any(fault.concerns(self.owner) for fault in view.state.faults):
            self.stopped = True
            return _held(decision, frozen_verdict(view))
        ownership = ownership_of(view, found[0])
        if decision.verdict is FOREIGN:
            what = f"{found[0].key.type} {found[0].key.name}"
            self.stopped |= ownership.holder is Holder.AMBIGUOUS
            return replace(decision, verdict=foreign_verdict(what, ownership, FOREIGN))
        doomed = _doomed(decision, found[0])
        if not doomed:
            return decision
        verdict = frozen_verdict(view)
        if verdict is None and ownership.doubt:
            verdict = kept_verdict(ownership.doubt)
        if verdict is None and doomed & ownership.others_members:
            verdict = kept_verdict(f"it is claimed by {', '.join(map(quoted, ownership.others))} too")
        if verdict is None:
            return decision
        self.stopped = True
        return _held(decision, verdict)


async def clear(account: Account, zone_id: str, zone: Fqdn, owner: OwnerID) -> None:
    """Delete what an owner has said in a hosted zone that is to be deleted and holds nothing else. Raises Failure."""
    observed = await account.records(zone_id)
    own = sorted(_own_names(zone, owner, observed))
    if any(key not in own and not (key.name == zone and key.type in _APEX) for key in observed):
        return
    for key in own:
        await account.change(zone_id, [Change(Action.DELETE, each, NOBODY) for each in observed[key]])


def _own_names(zone: Fqdn, owner: OwnerID, observed: Iterable[RecordKey]) -> Iterable[RecordKey]:
    state, pages = owner_state_name(zone, owner), f"{PAGE_LABEL}.{owner_hash(owner)}."
    for key in observed:
        if key.type == "TXT" and (key.name == state or (key.name.startswith(pages) and key.name.endswith(f".{zone}"))):
            yield key


def _matters(decision: Decision) -> bool:
    """Say whether the zone has to be asked before this is so."""
    return bool(decision.changes) or _is_foreign(decision)


def _is_foreign(decision: Decision) -> bool:
    return decision.verdict is FOREIGN or decision.left_behind


def _doomed(decision: Decision, found: Record) -> frozenset[Member]:
    """Return the records that a decision takes out of a record set."""
    if not decision.changes:
        return frozenset()
    there = members_of_record(found) or frozenset()
    stays = decision.want.record
    if stays is None or all(each.action is Action.DELETE for each in decision.changes):
        return there
    return there - (members_of_record(stays) or frozenset())


def _held(decision: Decision, verdict: Verdict | None) -> Decision:
    """Return a decision that does nothing, and says why."""
    return Decision(decision.want, Step.KEEP, decision.held, verdict=verdict)
