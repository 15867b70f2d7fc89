"""The hosted zone of a Zone: created, taken over, watched, and in the end deleted or left.

Owns the order of reading and writing: what is about to be created is noted down first, and whatever may have been done is read back before
anything is done again. A hosted zone is never taken for ours by its name. Raises Failure for what no verdict stands for.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused
from controllers.api.zone_unit import UnitZone
from controllers.ledger.zone_policy import CreationPolicy, DeletionPolicy
from controllers.providers.route53.client import Account, HostedZone
from controllers.providers.route53.failure import NotThere, ReferenceUsed
from controllers.providers.route53.ownership.announcer import Announcer
from controllers.providers.route53.parameters import Parameters, SameNamePolicy, owner_tags, wanted_tags
from controllers.providers.route53.payload import adopted_zone
from controllers.providers.route53.state import Notes, ZoneChange, ZoneOperation

Save = Callable[[Notes], Awaitable[None]]

RETAINS: Final = "zoneDeletionPolicy is Retain"
COMMENT: Final = "Managed by dns-api"
CREATING: Final = refused(
    Reason.PROVIDER_CHANGE_PENDING, "Route 53 spreads the new hosted zone to all of its name servers."
)
DELETING: Final = refused(
    Reason.PROVIDER_CHANGE_PENDING, "Route 53 spreads the deletion of the hosted zone to all of its name servers."
)
AGAIN: Final = refused(Reason.PROVIDER_CHANGE_PENDING, "The hosted zone is about to be created.")
NO_CREATION: Final = refused(
    Reason.DENIED_BY_POLICY,
    "The ZoneClass does not let hosted zones be created; name one in spec.adoption.hostedZoneId.",
)
NAME_TAKEN: Final = refused(
    Reason.PROVIDER_CONFLICT,
    "The AWS account has a public hosted zone of this name already. To manage it, name it in spec.adoption.hostedZoneId.",
)
_TWIN: Final = (
    "Hosted zone {} carries the tags of this very Zone, which knows nothing of it. "
    "To manage it, name it in spec.adoption.hostedZoneId."
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is so with the hosted zone; `zone` is there exactly when record sets can be looked at and written.

    Without a `programmed` verdict it is as it should be. `gone` when it is not there any more, with all that was in it.
    """

    notes: Notes
    zone: HostedZone | None = None
    programmed: Verdict | None = None
    accepted: Verdict = ACCEPTED
    gone: bool = False


class ZoneKeeper:
    """Looks after the hosted zone of one ledger; `save` writes notes to the ledger at once."""

    def __init__(self, account: Account, zone: UnitZone, announcer: Announcer, save: Save) -> None:
        self._account = account
        self._spec = zone
        self._announcer = announcer
        self._save = save

    async def bring_up(self, parameters: Parameters, notes: Notes) -> Finding:
        """Bring the hosted zone to what the ledger and its class say, one step further at least."""
        try:
            adopted = adopted_zone(self._spec.adoption)
        except ValueError as error:
            return Finding(notes, accepted=refused(Reason.INVALID_ADOPTION, f"spec.{error}."))
        known = notes.hosted_zone_id
        if known is not None and adopted not in (None, known):
            message = f"The Zone is programmed in hosted zone {known}; spec.adoption names {adopted}."
            return Finding(notes, accepted=refused(Reason.MANAGED_RESOURCE_MISMATCH, message))
        if elsewhere := self._elsewhere(notes):
            return elsewhere
        zone_id = known or adopted
        if zone_id is None:
            return await self._create(parameters, notes)
        try:
            zone = await self._account.zone(zone_id)
        except NotThere:
            if notes.created and adopted is None:
                return await self._create(parameters, Notes())
            message = f"The AWS account has no hosted zone {zone_id}."
            return Finding(notes, programmed=refused(Reason.EXTERNAL_RESOURCE_NOT_FOUND, message), gone=True)
        if objection := self._object_to(zone):
            return Finding(notes, programmed=refused(Reason.EXTERNAL_RESOURCE_MISMATCH, objection))
        if known is None:
            notes = replace(
                notes, hosted_zone_id=zone.id, account=self._account.id, created=False, caller_reference=None
            )
            await self._save(notes)
            self._announcer.zone_adopted(zone.id)
        if notes.created:
            await self._tag(parameters, zone)
        return await self._await_change(zone, notes)

    async def take_down(self, policy: DeletionPolicy, notes: Notes) -> Finding:
        """Delete the hosted zone if the policy says so; the finding is `gone` when nothing is left to be done."""
        if policy is DeletionPolicy.RETAIN:
            if notes.hosted_zone_id is not None:
                self._announcer.zone_retained(notes.hosted_zone_id, RETAINS)
            return Finding(notes, gone=True)
        if elsewhere := self._elsewhere(notes):
            return elsewhere  # not found there would say nothing about where it is
        change = notes.zone_change
        if change is not None and change.operation is ZoneOperation.DELETE:
            return await self._await_deletion(change, notes)
        zone = await self._doomed(notes)
        if zone is None:
            return Finding(notes, gone=True)
        if objection := self._object_to(zone):
            return Finding(notes, programmed=refused(Reason.EXTERNAL_RESOURCE_MISMATCH, objection))
        try:
            change_id = await self._account.delete_zone(zone.id)
        except NotThere:
            return Finding(notes, gone=True)
        notes = replace(notes, zone_change=ZoneChange(ZoneOperation.DELETE, zone.id, change_id))
        await self._save(notes)
        self._announcer.zone_submitted(ZoneOperation.DELETE, zone.id, change_id)
        return Finding(notes, programmed=DELETING)

    async def _create(self, parameters: Parameters, notes: Notes) -> Finding:
        if parameters.zone_creation_policy is CreationPolicy.DENY:
            return Finding(notes, accepted=NO_CREATION)
        same_name = [zone for zone in await self._account.zones_named(self._spec.domain_name) if not zone.private]
        made = next((zone for zone in same_name if zone.caller_reference == notes.caller_reference), None)
        if made is not None:
            return await self._created(notes, made, None)
        if same_name and parameters.same_name_zone_policy is SameNamePolicy.DENY:
            return Finding(notes, programmed=NAME_TAKEN)
        if notes.caller_reference is None:
            if twin := await self._twin(same_name):
                return Finding(notes, programmed=refused(Reason.PROVIDER_CONFLICT, _TWIN.format(twin.id)))
            notes = replace(notes, caller_reference=f"dns-api-{secrets.token_hex(16)}")
            await self._save(notes)
        reference = notes.caller_reference
        assert reference is not None, "it was made above"
        try:
            zone, change_id = await self._account.create_zone(self._spec.domain_name, reference, COMMENT)
        except ReferenceUsed:
            if made := await self._made(notes):
                return await self._created(notes, made, None)  # by an earlier request, which took its time
            # It made a hosted zone once, which is not there any more.
            await self._save(replace(notes, caller_reference=None))
            return Finding(replace(notes, caller_reference=None), programmed=AGAIN)
        return await self._created(notes, zone, change_id)

    async def _twin(self, same_name: list[HostedZone]) -> HostedZone | None:
        """Return a hosted zone that carries this Zone's own tags: what the ledger knew of it is lost, or the Zone was here before."""
        own = owner_tags(self._spec).items()
        for zone in same_name:
            if own <= (await self._account.tags(zone.id)).items():
                return zone
        return None

    async def _created(self, notes: Notes, zone: HostedZone, change_id: str | None) -> Finding:
        change = ZoneChange(ZoneOperation.CREATE, zone.id, change_id) if change_id is not None else None
        notes = replace(notes, hosted_zone_id=zone.id, account=self._account.id, created=True, zone_change=change)
        await self._save(notes)
        if change is not None:
            self._announcer.zone_submitted(change.operation, zone.id, change.change_id)
        return Finding(notes, programmed=CREATING)

    async def _tag(self, parameters: Parameters, zone: HostedZone) -> None:
        wanted, found = wanted_tags(parameters, self._spec), await self._account.tags(zone.id)
        missing = {key: value for key, value in wanted.items() if found.get(key) != value}
        if missing:
            await self._account.add_tags(zone.id, missing)

    async def _await_change(self, zone: HostedZone, notes: Notes) -> Finding:
        change = notes.zone_change
        if change is None:
            return Finding(notes, zone)
        if await self._is_pending(change):
            return Finding(notes, programmed=CREATING)
        self._announcer.zone_in_sync(change.operation, zone.id, change.change_id)
        return Finding(replace(notes, zone_change=None), zone)

    async def _await_deletion(self, change: ZoneChange, notes: Notes) -> Finding:
        if await self._is_pending(change):
            return Finding(notes, programmed=DELETING)
        self._announcer.zone_in_sync(change.operation, change.hosted_zone_id, change.change_id)
        self._announcer.zone_deleted(change.hosted_zone_id)
        return Finding(notes, gone=True)

    async def _is_pending(self, change: ZoneChange) -> bool:
        try:
            return await self._account.is_pending(change.change_id)
        except NotThere:  # Route 53 forgets changes in time
            return False

    async def _doomed(self, notes: Notes) -> HostedZone | None:
        """Return the hosted zone to delete: the noted one, or one that was just made.

        Never one that has the name, and never one that the Zone names only: it may not have been ours at any time.
        """
        zone_id = notes.hosted_zone_id
        if zone_id is None:
            made = await self._made(notes)
            if made is None:
                return None
            zone_id = made.id
        try:
            return await self._account.zone(zone_id)
        except NotThere:
            return None

    def _elsewhere(self, notes: Notes) -> Finding | None:
        """Return what is told when the identity is not for the account that the hosted zone is in."""
        if notes.hosted_zone_id is None or notes.account in (None, self._account.id):
            return None
        message = (
            f"Hosted zone {notes.hosted_zone_id} is in another AWS account than the one of the ZoneClass's identity."
        )
        return Finding(notes, programmed=refused(Reason.EXTERNAL_RESOURCE_MISMATCH, message))

    async def _made(self, notes: Notes) -> HostedZone | None:
        """Return the hosted zone that was created with the noted reference, None when there is none."""
        if notes.caller_reference is None:
            return None
        zones = await self._account.zones_named(self._spec.domain_name)
        return next((zone for zone in zones if zone.caller_reference == notes.caller_reference), None)

    def _object_to(self, zone: HostedZone) -> str | None:
        if zone.private:
            return f"Hosted zone {zone.id} is a private one; only public ones can be managed."
        if zone.name != self._spec.domain_name:
            return f"Hosted zone {zone.id} has another name than the Zone's domainName."
        return None
