"""Reads what became of the model's claims, from the API and over DNS."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import dns.rcode

from controllers.api.group import RECORD_SETS, ZONE_UNITS, ZONES
from tests.product.claim import Claim, Record, claim
from tests.product.contract.model import HOMES, Key, Model, Seen, SeenItem, Status
from tests.product.contract.small_world import SmallWorld
from tests.product.stage import Object
from tests.server.question import records

LABELS, TYPES, NUMBERS = ("a", "b"), ("A", "TXT", "CNAME"), (0, 1)
KEYS = {
    (key.namespace, key.name): key
    for zone, namespaces in (("one", ("owner", "team")), ("two", ("team",)))
    for namespace in namespaces
    for label in LABELS
    for kind in TYPES
    for number in NUMBERS
    for key in (Key(namespace, zone, label, kind, number),)
}


def domain_of(zone: str) -> str:
    return f"{zone}.test"


def claim_of(key: Key, value: int) -> Claim:
    """The claim of a key with that value."""
    match key.type:
        case "A":
            return claim(key.label, "A", f"192.0.{value // 256}.{value % 256}")
        case "TXT":
            return claim(key.label, "TXT", f"{value}")
    return claim(key.label, "CNAME", f"target-{value}.example.net")


async def look(world: SmallWorld) -> Seen:
    """Read the API."""
    zones = {obj["metadata"]["name"]: _conditions(obj) for obj in (await world.client.list(ZONES)).items}
    claims = {_key(obj["metadata"]): _conditions(obj) for obj in (await world.client.list(RECORD_SETS)).items}
    items: dict[Key, SeenItem] = {}
    for unit in (await world.client.list(ZONE_UNITS)).items:
        for each in unit["spec"].get("recordSets", ()):
            key = KEYS[each["recordSetNamespace"], each["recordSetName"]]
            assert key not in items, f"{key} stands in the ledger twice"
            items[key] = SeenItem(
                _value(each),
                each["observedGeneration"],
                each.get("allowed", True),
                each.get("deletionRequested", False),
            )
    return Seen(zones, claims, items)


async def wrong_answers(world: SmallWorld, model: Model, seen: Seen) -> list[str]:
    """Ask for everything that open zones may have, and tell the answers that should be others."""
    return [
        wrong
        for zone in HOMES
        if model.is_open(zone)
        for label in LABELS
        for kind in TYPES
        for wrong in await _wrong_answer(world, model, seen, zone, label, kind)
    ]


async def _wrong_answer(world: SmallWorld, model: Model, seen: Seen, zone: str, label: str, kind: str) -> Iterator[str]:
    reply = await asyncio.to_thread(world.target.ask, f"{label}.{domain_of(zone)}", kind)
    answer = {record for record in records(reply.answer) if record[0].startswith(f"{label}.")}
    owner = next((key for key in seen.items if (key.zone, key.label, key.type) in _answering(zone, label, kind)), None)
    possible = [set[Record]()] if owner is None else list(_possible(model, seen, owner))
    if answer not in possible or reply.rcode() not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
        return iter(
            [
                f"{label}.{domain_of(zone)} {kind} is answered {dns.rcode.to_text(reply.rcode())} {answer}, it should be one of {possible}"
            ]
        )
    return iter(())


def _answering(zone: str, label: str, kind: str) -> set[tuple[str, str, str]]:
    return {(zone, label, kind), (zone, label, "CNAME")}


def _possible(model: Model, seen: Seen, owner: Key) -> Iterator[set[Record]]:
    """The answers that an owner may have: while it is shut out, what was served before stays, be it nothing."""
    if model.is_granted(owner):
        values = {seen.items[owner].value}
    else:
        values = model.possible_values(owner)
        if owner not in model.owned:
            yield set()
    for value in values:
        yield claim_of(owner, value).records(domain_of(owner.zone))


def _key(metadata: Object) -> Key:
    return KEYS[metadata["namespace"], metadata["name"]]


def _conditions(obj: Object) -> dict[str, Status]:
    generation = obj["metadata"]["generation"]
    return {
        each["type"]: (each["status"], each["reason"])
        for each in obj.get("status", {}).get("conditions", ())
        if each["observedGeneration"] == generation
    }


def _value(item: Object) -> int:
    match item["type"]:
        case "A":
            third, fourth = item["a"]["addresses"][0].split(".")[2:]
            return int(third) * 256 + int(fourth)
        case "TXT":
            return int(item["txt"]["values"][0])
    return int(item["cname"]["target"].removeprefix("target-").partition(".")[0])
