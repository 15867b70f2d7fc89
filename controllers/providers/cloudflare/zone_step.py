"""The zone itself at Cloudflare: found, adopted, created or deleted by its identifier, never by its name.

Owns the requests about the zone and the judgement on their answers. A name is looked up for two purposes only: to see that nothing stands
in the way of a zone that is to be created, and to recognise the one that a noted request has created.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused
from controllers.api.zone_unit import UnitZone, ZoneUnitStatus
from controllers.ledger.result import Facts
from controllers.ledger.zone_policy import CreationPolicy
from controllers.providers.cloudflare.account import Account
from controllers.providers.cloudflare.failure import CloudflareError, NotFoundError
from controllers.providers.cloudflare.intent import Intents
from controllers.providers.cloudflare.payload import Parameters, ZoneAdoption
from controllers.providers.cloudflare.payload_rule import parse_payload
from controllers.providers.cloudflare.record import is_id
from controllers.providers.cloudflare.zone_fact import FULL, ZoneFact

PROGRAMMED: Final = Verdict(ACCEPTED.status, Reason.PROGRAMMED)
USABLE: Final = frozenset({"pending", "active"})
MOVED: Final = "moved"
DENIED: Final = "The ZoneClass creates no zones; name an existing one in spec.adoption.zoneID."

Note = Callable[[Intents], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ZoneStep:
    """What is known of the zone now. `fact` is there exactly when it is ours; its records are touched only when it is `usable`.

    `adopted` and `created` say that it has become ours just now, `missing` that the one that was ours is not there.
    """

    programmed: Verdict
    intents: Intents
    accepted: Verdict = ACCEPTED
    fact: ZoneFact | None = None
    adopted: bool = False
    created: bool = False
    missing: bool = False
    failure: CloudflareError | None = None

    @property
    def usable(self) -> bool:
        return self.fact is not None and self.programmed.accepted


def managed_id(status: ZoneUnitStatus) -> str | None:
    """Return the identifier of the zone that is ours already, by part 0's status."""
    provider = status.zone.provider if status.zone is not None else None
    zone = (provider.data or {}).get("zone") if provider is not None else None
    found = zone.get("id") if isinstance(zone, dict) else None
    return found if is_id(found) else None


def noted_account(status: ZoneUnitStatus) -> str | None:
    """Return the account that the zone that is ours was seen in, by part 0's private state."""
    provider = status.zone.provider if status.zone is not None else None
    found = (provider.state or {}).get("account") if provider is not None else None
    return found if is_id(found) else None


def elsewhere(zone_id: str) -> str:
    """Return what is told of a zone that the token cannot see, since it is in another account."""
    return f"Zone {zone_id} at Cloudflare belongs to another account than the token."


def zone_data(fact: ZoneFact) -> Facts:
    """Return the public facts about a zone."""
    zone: dict[str, Any] = {"id": fact.id, "status": fact.status, "type": fact.type}
    return {"zone": zone}


async def ensure_zone(
    account: Account,
    zone: UnitZone,
    known: str | None,
    parameters: Parameters,
    intents: Intents,
    note: Note,
    home: str | None = None,
) -> ZoneStep:
    """Bring the zone there; `known` is the identifier of the one that is ours already, `note` writes an intent before a creation.

    `home` is the account that the known zone was seen in: from another one nothing can be said about it.

    Raises KubeError from `note`; what the API says is in the step.
    """
    adoption = parse_payload(ZoneAdoption, zone.adoption, "adoption") if zone.adoption is not None else None
    if isinstance(adoption, str) or (adoption is not None and not is_id(adoption.zone_id)):
        fault = (
            adoption if isinstance(adoption, str) else "adoption.zoneID: allowed are 32 lowercase hexadecimal digits"
        )
        verdict = refused(Reason.INVALID_ADOPTION, f"spec.{fault}.")
        return ZoneStep(refused(Reason.PROVIDER_INVALID_REQUEST, verdict.message), intents, verdict)
    adopts = adoption.zone_id if adoption is not None else None
    if known is not None and adopts not in (None, known):
        message = f"Zone {known} is managed already; spec.adoption.zoneID names another one."
        verdict = refused(Reason.MANAGED_RESOURCE_MISMATCH, message)
        return ZoneStep(refused(Reason.EXTERNAL_RESOURCE_MISMATCH, message), intents, verdict)
    if known is not None and home not in (None, account.id):
        reason = Reason.EXTERNAL_RESOURCE_MISMATCH if adopts is not None else Reason.PROVIDER_CONFLICT
        return ZoneStep(refused(reason, elsewhere(known)), intents)
    try:
        target = known or adopts
        if target is not None:
            return await _observe(account, zone, target, intents, adopted=adopts is not None, new=known is None)
        return await _create(account, zone, parameters, intents, note)
    except CloudflareError as error:
        return ZoneStep(refused(error.reason, f"{error.message}."), intents, failure=error)


async def _observe(
    account: Account, zone: UnitZone, zone_id: str, intents: Intents, *, adopted: bool, new: bool
) -> ZoneStep:
    try:
        fact = await account.client.zone(zone_id)
    except NotFoundError:
        verdict = refused(Reason.EXTERNAL_RESOURCE_NOT_FOUND, f"Cloudflare has no zone {zone_id}.")
        return ZoneStep(verdict, intents, missing=True)
    mismatch = object_to_zone(fact, zone.domain_name, account.id)
    if mismatch is not None:
        reason = Reason.EXTERNAL_RESOURCE_MISMATCH if adopted else Reason.PROVIDER_CONFLICT
        return ZoneStep(refused(reason, mismatch), intents)
    verdict = judge_status(fact, adopted=adopted)
    if new and fact.status == MOVED:
        return ZoneStep(verdict, intents)
    return ZoneStep(verdict, intents.with_zone(None), fact=fact, adopted=new)


async def _create(account: Account, zone: UnitZone, parameters: Parameters, intents: Intents, note: Note) -> ZoneStep:
    if parameters.zone_creation_policy is CreationPolicy.DENY and intents.zone_since is None:
        denied = refused(Reason.DENIED_BY_POLICY, DENIED)
        return ZoneStep(
            refused(Reason.EXTERNAL_RESOURCE_NOT_FOUND, "No zone is adopted and none is created."), intents, denied
        )
    listing = await account.client.zones_named(zone.domain_name, account.id)
    ours = [each for each in listing.zones if intents.claims_zone(each)]
    if len(listing.zones) == 1 and ours:
        return ZoneStep(judge_status(ours[0], adopted=False), intents.with_zone(None), fact=ours[0], created=True)
    if listing.zones:
        message = f"The account has a zone {zone.domain_name} already; adopt it by spec.adoption.zoneID, or remove it."
        return ZoneStep(refused(Reason.PROVIDER_CONFLICT, message), intents)
    noted = intents.with_zone(intents.zone_since or listing.at)
    await note(noted)
    try:
        fact = await account.client.create_zone(zone.domain_name, account.id)
    except CloudflareError as error:
        # After a first refusal it is known that nothing was created; a note from before still speaks of another request.
        left = intents if error.outcome_known else noted
        return ZoneStep(refused(error.reason, f"{error.message}."), left, failure=error)
    mismatch = object_to_zone(fact, zone.domain_name, account.id)
    if mismatch is not None:
        return ZoneStep(refused(Reason.PROVIDER_CONFLICT, mismatch), noted)
    return ZoneStep(judge_status(fact, adopted=False), noted.with_zone(None), fact=fact, created=True)


def object_to_zone(fact: ZoneFact, domain: str, account_id: str) -> str | None:
    """Say why a zone at Cloudflare is not the one that a Zone means, None when it is."""
    if fact.name != domain:
        return f"Zone {fact.id} at Cloudflare is {fact.name}, not {domain}."
    if fact.account_id != account_id:
        return elsewhere(fact.id)
    if fact.type != FULL:
        return f"Zone {fact.id} at Cloudflare is of type {fact.type}, {FULL} is needed."
    return None


def judge_status(fact: ZoneFact, *, adopted: bool) -> Verdict:
    """Return whether a zone of ours is programmed, by the state that Cloudflare tells."""
    if fact.status in USABLE:
        return PROGRAMMED
    if fact.status == MOVED:
        reason = Reason.EXTERNAL_RESOURCE_MISMATCH if adopted else Reason.PROVIDER_CONFLICT
        return refused(reason, "Cloudflare says that the domain has moved to other name servers.")
    state = fact.status or "unknown"
    return refused(Reason.PROVIDER_CHANGE_PENDING, f"The zone is {state} at Cloudflare.")
