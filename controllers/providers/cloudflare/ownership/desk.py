"""Ownership in a zone that several programs write to: what the zone itself tells of who owns which records.

Owns the judgement on plans by it, and the order of claims: they stand in the zone before the first write and go after the last deletion.
A zone whose claims cannot be told freezes deletions; it never freezes reads, and without this nothing here is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from controllers.api.verdict import Verdict
from controllers.ledger.ownership import RESERVED, foreign_verdict, frozen_verdict, kept_verdict, unclaimed_verdict
from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.client import CloudflareClient
from controllers.providers.cloudflare.observation import Observation
from controllers.providers.cloudflare.ownership.backend import CloudflareBackend
from controllers.providers.cloudflare.payload import Parameters
from controllers.providers.cloudflare.plan import ItemPlan, not_done
from controllers.providers.cloudflare.record import CloudflareRecord, caa_value, mx_value
from controllers.providers.cloudflare.zone_fact import ZoneFact
from ownership.backends.protocol import Backend
from ownership.entry import Entry, claims
from ownership.error import FormatError, OwnershipError
from ownership.member import Member, MemberType
from ownership.naming import OwnerID, quoted, tells_ownership
from ownership.publish import Publisher
from ownership.view import Holder, Ownership, ZoneOwnership, read_ownership
from zonemodel.name import Fqdn, to_wire
from zonemodel.record import AAAABody, ABody, RecordBodies, RecordType, encode_bodies

Replan = Callable[[ItemPlan, tuple[str, ...]], ItemPlan]
"""Returns the plan of an item that has further records, given by their identifiers."""

Living = set[tuple[str, RecordType]]


@dataclass(slots=True)
class OwnershipDesk:
    """One look at one zone as one owner."""

    backend: Backend
    owner: OwnerID
    failure: OwnershipError | None = None
    _view: ZoneOwnership | None = None

    async def judge(self, plans: Sequence[ItemPlan], found: Observation, replan: Replan) -> list[ItemPlan]:
        """Return the plans with our lost records taken back, those of others named, and deletions frozen where need be."""
        try:
            self._view = await read_ownership(self.backend, self.owner)
        except OwnershipError as error:
            self.failure = error
            return [_held(self._unless_reserved(plan), error) for plan in plans]
        living = _living(plans)
        judged = (self._judge(plan, found, replan, self._view, living) for plan in plans)
        return [self._unless_reserved(plan) for plan in judged]

    async def publish(self, plans: Sequence[ItemPlan]) -> list[ItemPlan]:
        """Have the claims of these plans stand in the zone; returns those that may go on as they are, and the others held."""
        view = self._view
        if view is None:
            return list(plans)
        settled, added, gone = [], set[Entry](), set[Entry]()
        living = _living(plans)
        for plan in plans:
            try:
                more, less = _claims_of(plan, view)
            except FormatError as error:
                settled.append(_held(plan, error))
                continue
            added |= more
            if not plan.gone or (plan.item.name, plan.item.source.type) not in living:
                gone |= less
            settled.append(plan)
        gone -= added
        if not added and not gone:
            return settled
        try:
            await Publisher(self.backend, self.owner).change(added, gone)
        except OwnershipError as error:
            self.failure = error
            return [_held(plan, error) for plan in settled]
        return settled

    async def object_to_zone_deletion(self) -> Verdict | None:
        """Return why the zone has to stay for the sake of others, None when it need not."""
        try:
            view = await read_ownership(self.backend, self.owner)
        except OwnershipError as error:
            return unclaimed_verdict(error)
        owners = ", ".join(map(quoted, view.others()))
        return frozen_verdict(view) or (kept_verdict(f"it holds records that {owners} claims") if owners else None)

    def _unless_reserved(self, plan: ItemPlan) -> ItemPlan:
        """Return the plan, without what it writes or adopts where the zone tells who owns what."""
        writes = (plan.change or plan.adopted) and not plan.item.source.deletion_requested
        return not_done(plan, RESERVED) if writes and tells_ownership(plan.item.name, self.backend.zone) else plan

    def _judge(
        self, plan: ItemPlan, found: Observation, replan: Replan, view: ZoneOwnership, living: Living
    ) -> ItemPlan:
        item = plan.item
        ownership = view.of(item.name, MemberType(item.source.type.value))
        if plan.foreign:
            if ownership.holder is Holder.ME and _are_claimed(plan.foreign, found, ownership.members):
                plan = replan(plan, plan.foreign)
            else:
                what = f"{item.source.type} {item.name}"
                verdict = foreign_verdict(what, ownership, plan.verdict) if plan.verdict is not None else None
                return replace(plan, verdict=verdict)
        elif plan.gone and (item.name, item.source.type) not in living:
            there = [each for each in found.at_name(item.name) if each.type == item.source.type]
            lost = tuple(each.id for each in there if _are_claimed((each.id,), found, ownership.members))
            plan = replan(plan, lost) if lost else plan
        return self._freeze(plan, found, view, ownership)

    def _freeze(self, plan: ItemPlan, found: Observation, view: ZoneOwnership, ownership: Ownership) -> ItemPlan:
        doomed = _doomed(plan, found)
        if not doomed:
            return plan
        if verdict := frozen_verdict(view):
            return _stopped(plan, verdict)
        shared = {_value(each) for each in ownership.others_members}
        if ownership.doubt or any(shared & set(record.values) for record in doomed):
            return _stopped(plan, kept_verdict(ownership.reason))
        return plan


def desk_of(client: CloudflareClient, fact: ZoneFact, parameters: Parameters | None) -> OwnershipDesk | None:
    """Return what asks a zone who owns its records, None where the class does not want it to tell."""
    owner = parameters.ownership.owner if parameters is not None else None
    if owner is None:
        return None
    return OwnershipDesk(CloudflareBackend(client, fact.id, Fqdn(fact.name)), owner)


def _claims_of(plan: ItemPlan, view: ZoneOwnership) -> tuple[set[Entry], set[Entry]]:
    """Return the claims to add for a plan and those to take back. Raises FormatError."""
    item = plan.item
    held = view.claims(item.name, MemberType(item.source.type.value))
    if plan.gone:
        return set(), set(held)
    if plan.verdict is not None or item.desired is None or item.source.deletion_requested:
        return set(), set()
    wanted = claims(view.me, item.name, item.source)
    known = {each.marker.member.identity for each in held}
    needed = {each.marker.member.identity for each in wanted}
    added = {each for each in wanted if each.marker.member.identity not in known}
    gone = set() if plan.change else {each for each in held if each.marker.member.identity not in needed}
    return added, gone


def _living(plans: Iterable[ItemPlan]) -> Living:
    """Return the record sets that some item is to have."""
    return {(each.item.name, each.item.source.type) for each in plans if not each.item.source.deletion_requested}


def _doomed(plan: ItemPlan, found: Observation) -> list[CloudflareRecord]:
    """Return the records that a plan deletes, or has say something else."""
    wanted = {each.value for each in plan.item.desired.records} if plan.item.desired is not None else set()
    patched = found.with_ids(each for each, _ in plan.change.patches)
    replaced = [each for each in patched if wanted.isdisjoint(each.values)]
    return [*found.with_ids(plan.change.deletes), *replaced]


def _are_claimed(ids: Iterable[str], found: Observation, members: Iterable[Member]) -> bool:
    values = {_value(each) for each in members}
    return all(values & set(record.values) for record in found.with_ids(ids))


def _value(member: Member) -> bytes:
    """Return the octets of a claimed record, none for one that has no such form."""
    target = member.target
    try:
        match member.type:
            case MemberType.A:
                return encode_bodies(RecordBodies(a=ABody(addresses=(target,))))[0]
            case MemberType.AAAA:
                return encode_bodies(RecordBodies(aaaa=AAAABody(addresses=(target,))))[0]
            case MemberType.MX:
                preference, _, exchange = target.partition(" ")
                return mx_value(int(preference), exchange)
            case MemberType.CAA:
                flags, tag, value = target.split(" ", 2)
                return caa_value(int(flags), tag, value)
            case MemberType.CNAME | MemberType.NS:
                return to_wire(target)
    except ValueError:
        return b""
    return target.encode()


def _held(plan: ItemPlan, error: OwnershipError) -> ItemPlan:
    """Return a plan that would change something, or end, with nothing done."""
    if not plan.change and not plan.gone:
        return plan
    return replace(_stopped(plan, unclaimed_verdict(error)), gone=False)


def _stopped(plan: ItemPlan, verdict: Verdict) -> ItemPlan:
    return replace(plan, change=Change(), posted=(), verdict=verdict)
