"""The end of a zone: what its deleting ledger still asks for, then the zone itself where the class says so.

Owns the order: records whose deletion was asked for, then the zone, which is deleted with no item left in the ledger only. What is
deleted is named by an identifier from the ledger's status or its adoption; a zone that was created without its identifier being told is
first recognised by its note and put on record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.api.zone_unit import ZoneUnit, ZoneUnitStatus
from controllers.ledger.result import Facts, ItemResult
from controllers.ledger.zone_policy import DeletionPolicy
from controllers.providers.cloudflare.account import Account
from controllers.providers.cloudflare.binding import Patience
from controllers.providers.cloudflare.desired import Item
from controllers.providers.cloudflare.failure import CloudflareError, NotFoundError
from controllers.providers.cloudflare.intent import Intents, parse_intents
from controllers.providers.cloudflare.memory import ZoneMemory
from controllers.providers.cloudflare.ownership.announcement import Announcer
from controllers.providers.cloudflare.ownership.desk import desk_of
from controllers.providers.cloudflare.payload import Parameters, ZoneAdoption
from controllers.providers.cloudflare.payload_rule import parse_payload
from controllers.providers.cloudflare.record import is_id
from controllers.providers.cloudflare.record_step import RecordWork, recorded_ids
from controllers.providers.cloudflare.submission import Note
from controllers.providers.cloudflare.view import CloudflareView
from controllers.providers.cloudflare.zone_fact import ZoneFact
from controllers.providers.cloudflare.zone_step import (
    MOVED,
    elsewhere,
    managed_id,
    noted_account,
    object_to_zone,
    zone_data,
)
from kube.object import ObjectKey

PENDING: Final = refused(Reason.PROVIDER_CHANGE_PENDING, "The zone is being deleted at Cloudflare.")
UNREADY: Final = refused(
    Reason.PROVIDER_IDENTITY_NOT_READY, "What is left at Cloudflare cannot be deleted without a working identity."
)
ITEMS_LEFT: Final = refused(
    Reason.PROVIDER_CONFLICT, "The zone is not deleted at Cloudflare while its ledger holds RecordSets."
)


@dataclass(slots=True)
class CleanUpStep:
    """What came of the look; `done` when nothing is left to do."""

    programmed: Verdict = PENDING
    done: bool = False
    results: dict[ObjectKey, ItemResult] = field(default_factory=dict)
    intents: Intents = field(default_factory=Intents)
    data: Facts | None = None
    failure: CloudflareError | None = None
    next_s: float | None = None


def last_policy(status: ZoneUnitStatus) -> DeletionPolicy:
    """Return the policy that the class had when it could last be followed; a zone is kept when there is none."""
    provider = status.zone.provider if status.zone is not None else None
    policy = (provider.state or {}).get("zoneDeletionPolicy") if provider is not None else None
    return DeletionPolicy.DELETE if policy == DeletionPolicy.DELETE else DeletionPolicy.RETAIN


@dataclass(slots=True)
class CleanUp:
    """One look at a deleting ledger."""

    view: CloudflareView
    main: ZoneUnit
    policy: DeletionPolicy
    memory: ZoneMemory
    patience: Patience
    announcer: Announcer
    note: Note
    now: float
    parameters: Parameters | None = None
    """Those of the class, where it can be followed."""

    async def run(
        self, items: Sequence[Item], statuses: Sequence[ZoneUnitStatus], status: ZoneUnitStatus
    ) -> CleanUpStep:
        """Do what is left to do. Raises KubeError from `note`; what the API says is in the step."""
        step = CleanUpStep(intents=parse_intents(status.provider.state if status.provider is not None else None))
        try:
            known = managed_id(status)
            deletes = self.policy is DeletionPolicy.DELETE or any(each.source.deletion_requested for each in items)
            if known is not None and deletes and self._is_elsewhere(status):
                step.programmed = refused(Reason.EXTERNAL_RESOURCE_MISMATCH, elsewhere(known))
                step.next_s = self.patience.resync_s
                return step
            if known is not None and not await self._delete_records(known, items, statuses, step):
                return step
            if self.policy is DeletionPolicy.RETAIN:
                if known is not None:
                    self.announcer.zone_retained(self.main, known)
                step.done = True
                return step
            await self._delete_zone(known or self._adopted(), items, step, taken=known is not None)
        except CloudflareError as error:
            step.failure, step.programmed = error, refused(error.reason, f"{error.message}.")
        return step

    def _is_elsewhere(self, status: ZoneUnitStatus) -> bool:
        """Say whether the token is for another account than the zone was seen in: not found there would say nothing."""
        account = self.view.account
        return account is not None and noted_account(status) not in (None, account.id)

    async def _delete_records(
        self, zone_id: str, items: Sequence[Item], statuses: Sequence[ZoneUnitStatus], step: CleanUpStep
    ) -> bool:
        """Delete the records of items whose deletion was asked for; say whether none is left."""
        known = {entry.key: recorded_ids(entry) for status in statuses for entry in status.record_sets}
        leaving = [
            item
            for item in items
            if item.source.deletion_requested
            and (known.get(item.key) or item.adopts or item.key in step.intents.records)
        ]
        if not leaving:
            return True
        account = self.view.account
        if account is None:
            step.programmed, step.next_s = UNREADY, self.patience.resync_s
            return False
        fact = await self._zone(account, zone_id)
        if fact is None:
            return True
        desk = desk_of(account.client, fact, self.parameters)
        work = RecordWork(
            account.client, self.view.key, fact, self.memory, self.patience, self.announcer, self.note, self.now, desk
        )
        records = await work.run(leaving, statuses, step.intents)
        step.results, step.intents = records.results, records.intents
        step.failure, step.next_s = records.failure, records.next_s
        return not records.remaining

    async def _delete_zone(self, target: str | None, items: Sequence[Item], step: CleanUpStep, *, taken: bool) -> None:
        left = [item for item in items if not (item.key in step.results and step.results[item.key].gone)]
        if any(not item.source.deletion_requested for item in left):
            step.programmed, step.next_s = ITEMS_LEFT, self.patience.resync_s
            return
        if target is None and step.intents.zone_since is None:
            step.done = True
            return
        account = self.view.account
        if account is None:
            step.programmed, step.next_s = UNREADY, self.patience.resync_s
            return
        if target is None:
            await self._recognise(account, step)
            return
        fact = await self._zone(account, target)
        if fact is not None:
            mismatch = object_to_zone(fact, self.main.spec.zone.domain_name, account.id)
            if not taken and (mismatch is not None or fact.status == MOVED):
                step.done = True  # its adoption was refused, so it has never been ours
                return
            if mismatch is not None:
                step.programmed = refused(Reason.EXTERNAL_RESOURCE_MISMATCH, mismatch)
                step.next_s = self.patience.resync_s
                return
            desk = desk_of(account.client, fact, self.parameters)
            objection = await desk.object_to_zone_deletion() if desk is not None else None
            if objection is not None:
                step.programmed, step.next_s = objection, self.patience.refusal_s
                return
            await account.client.delete_zone(fact.id)
            self.announcer.zone_deleted(self.main, fact.id)
        step.done = True

    async def _recognise(self, account: Account, step: CleanUpStep) -> None:
        """Put a zone on record that a noted request has created; it is deleted at the next look."""
        listing = await account.client.zones_named(self.main.spec.zone.domain_name, account.id)
        ours = [each for each in listing.zones if step.intents.claims_zone(each)]
        since = step.intents.zone_since
        if len(ours) == 1:
            step.data, step.intents = zone_data(ours[0]), step.intents.with_zone(None)
            step.next_s = self.patience.confirm_s
        elif since is not None and (listing.at - since).total_seconds() <= self.patience.grace_s:
            step.next_s = self.patience.grace_s
        else:
            step.done = True

    async def _zone(self, account: Account, zone_id: str) -> ZoneFact | None:
        try:
            return await account.client.zone(zone_id)
        except NotFoundError:
            return None

    def _adopted(self) -> str | None:
        """Return the identifier that the Zone adopts."""
        if self.main.spec.zone.adoption is None:
            return None
        adoption = parse_payload(ZoneAdoption, self.main.spec.zone.adoption, "adoption")
        return adoption.zone_id if isinstance(adoption, ZoneAdoption) and is_id(adoption.zone_id) else None
