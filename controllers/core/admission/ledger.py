"""Validation of ZoneUnits: the ledger's spec, its status, and when it may be deleted.

Controllers write ledgers; a person may apply one ahead of its claims for recovery. Only what an update changes is judged, so
that a write of one item costs one item, and so that no old item can hold up a new one. A Provider that has gone stops nothing
that does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final

from controllers.api.reason import RECORD_SET_REASONS, ZONE_REASONS
from controllers.api.zone_unit import part_name
from controllers.core.admission.claim import Manifest, require_provider
from controllers.core.admission.condition import judge_conditions
from controllers.core.admission.record_body import Switch, judge_body
from controllers.core.admission.record_name import judge_owner, require_host
from controllers.core.admission.status import Storage, adds_reason, generation_of, judge_data, judge_name_servers
from controllers.core.admission.withdrawal_ledger import judge_withdrawal_results, judge_withdrawals
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    Field,
    judge_duplicates,
    judge_immutable,
    require_integer,
    require_object,
    require_object_name,
    require_text,
)
from controllers.core.providercontract.target import Target
from zonemodel.record import TTL_MAX_S, RecordType

IMMUTABLE: Final = ("zone.ref", "zone.domainName", "zone.zoneClassRef", "provider.name", "part")
"""What a ledger is of: all of it is immutable in a Zone, too, so that no composer ever changes it."""
PART_LIMIT: Final = 9999
GENERATION_LIMIT: Final = 2**63 - 1
DECIDED: Final = frozenset({"observedGeneration", "allowed", "deletionRequested"})
"""Fields of an item that say what is to happen with the records; the others say what the records are."""
UNIT_REASONS: Final = {
    pair: ZONE_REASONS[pair] | RECORD_SET_REASONS[pair] for pair in ZONE_REASONS if pair[0].value == "Programmed"
}


def validate_zone_unit(new: Manifest, old: Manifest | None, storage: Storage) -> list[Fault]:
    """Return everything that is wrong with the spec of a ZoneUnit; `old` is the stored object on an update."""
    spec, before = Field("", new).child("spec"), Field("", old).child("spec")
    contract = storage if isinstance(storage, Contract) else None
    faults = list(require_provider(spec))
    faults += _judge_zone(spec.child("zone"), before.child("zone"), contract)
    faults += _judge_part(spec)
    if old is None:
        faults += _judge_object_name(new)
    else:
        faults += judge_immutable(spec, before, IMMUTABLE)
    items, known = spec.child("recordSets"), _by_key(before.child("recordSets"))
    for item in _changed(items, known):
        faults += _judge_item(item, known.get(_key(item.value)), contract)
    faults += _judge_repeated(items, _key, "RecordSet")
    faults += _judge_repeated(items, _identity, "combination of name and type in a zone")
    faults += judge_withdrawals(spec, before)
    return faults


def validate_zone_unit_status(new: Manifest, old: Manifest | None, storage: Storage) -> list[Fault]:
    """Return everything that is wrong with the status of a ZoneUnit; `old` is the stored object."""
    status, before = Field("", new).child("status"), Field("", old).child("status")
    faults: list[Fault] = []
    observed = status.child("observedGeneration")
    if observed.present:
        faults += require_integer(observed, 0, generation_of(new))
    on_zone, on_item = adds_reason(storage, Target.ZONE), adds_reason(storage, Target.RECORD_SET)
    faults += judge_conditions(
        status.child("conditions"),
        UNIT_REASONS,
        lambda *reason: on_zone(*reason) or on_item(*reason),
        generation_of(new),
    )
    zone = status.child("zone")
    if zone.value != before.child("zone").value:
        faults += judge_conditions(zone.child("conditions"), ZONE_REASONS, on_zone)
        faults += judge_name_servers(zone.child("nameServers"))
        faults += _judge_provider_data(zone, before.child("zone"), storage, Target.ZONE)
    items, known = status.child("recordSets"), _by_key(before.child("recordSets"))
    for item in _changed(items, known):
        faults += judge_conditions(item.child("conditions"), RECORD_SET_REASONS, on_item)
        faults += _judge_provider_data(item, Field(item.path, known.get(_key(item.value))), storage, Target.RECORD_SET)
    faults += _judge_repeated(items, _key, "RecordSet")
    faults += judge_withdrawal_results(status, before, storage)
    faults += _judge_state(status.at("provider.state"))
    return faults


def object_to_delete(unit: Manifest, zone_lives: bool) -> str | None:
    """Say why a ZoneUnit may not be deleted, or None when it may; `zone_lives` when its Zone exists and is not being deleted.

    A further part that holds nothing any more may go at any time: its records have moved out of it or have been cleaned up.
    """
    spec = Field("", unit).child("spec")
    emptied = bool(spec.child("part").integer) and not spec.child("recordSets").size
    going = Field("", unit).at("metadata.deletionTimestamp").present
    if not zone_lives or emptied or going:
        return None
    ref = spec.at("zone.ref")
    zone = f"{ref.child('namespace').text}/{ref.child('name').text}"
    return f"the ledger of Zone {zone} goes with it; delete the Zone, and its ZoneUnit is cleaned up and deleted"


def _judge_zone(zone: Field, before: Field, contract: Contract | None) -> Iterator[Fault]:
    faults = list(require_object(zone, "the zone that the ledger belongs to"))
    yield from faults
    if faults or zone.value == before.value:
        return
    for name in ("ref", "zoneClassRef"):
        yield from _require_full_ref(zone.child(name))
    yield from require_integer(zone.child("observedGeneration"), 0, GENERATION_LIMIT)
    yield from require_host(zone.child("domainName"))
    if contract and zone.child("adoption").value != before.child("adoption").value:
        yield from contract.judge_payload(Target.ZONE, "adoption", zone)


def _require_full_ref(ref: Field) -> Iterator[Fault]:
    faults = list(require_object(ref, "namespace and name"))
    yield from faults
    if not faults:
        yield from require_object_name(ref.child("namespace"))
        yield from require_object_name(ref.child("name"))


def _judge_part(spec: Field) -> Iterator[Fault]:
    part, parts = spec.child("part"), spec.child("parts")
    if part.present:
        yield from require_integer(part, 0, PART_LIMIT)
    if parts.size and part.integer:
        yield parts.fault("nothing on a part other than 0", FaultReason.FORBIDDEN)
    items = list(parts.items())
    for item in items:
        yield from require_integer(item, 1, PART_LIMIT)
    yield from judge_duplicates(items, lambda item: item.integer, "part")


def _judge_object_name(new: Manifest) -> Iterator[Fault]:
    root = Field("", new)
    ref, part = root.at("spec.zone.ref"), root.at("spec.part").integer or 0
    name, namespace = root.at("metadata.name"), root.at("metadata.namespace")
    if ref.child("name").text and name.text != part_name(ref.child("name").text or "", part):
        yield name.fault(f'"{part_name(ref.child("name").text or "", part)}", as part {part} of this zone is named')
    if ref.child("namespace").text and namespace.text != ref.child("namespace").text:
        yield namespace.fault(f'"{ref.child("namespace").text}", the namespace of the zone')


def _by_key(items: Field) -> dict[Hashable, Any]:
    """The raw items of a list by their RecordSet."""
    return {_key(each): each for each in items.value} if isinstance(items.value, list) else {}


def _changed(items: Field, known: Mapping[Hashable, Any]) -> Iterator[Field]:
    """Yield the items that are not what they were."""
    for index, each in enumerate(items.value if isinstance(items.value, list) else ()):
        if known.get(_key(each)) != each:
            yield Field(f"{items.path}[{index}]", each)


def _judge_repeated(items: Field, identity: Callable[[Any], Hashable | None], what: str) -> Iterator[Fault]:
    """Object to items whose identity stood before; in the usual case, without any, it only counts."""
    found = [identity(each) for each in items.value] if isinstance(items.value, list) else []
    if len(set(found)) < len(found):
        yield from judge_duplicates(list(items.items()), lambda item: identity(item.value), what)


def _judge_item(item: Field, was: Any, contract: Contract | None) -> Iterator[Fault]:
    """Object to an item that is new or says something else of its records than it did."""
    before = Field(item.path, was)
    if before.present and _content(item) == _content(before):
        return
    yield from require_object_name(item.child("recordSetNamespace"))
    yield from require_object_name(item.child("recordSetName"))
    yield from require_integer(item.child("observedGeneration"), 0, GENERATION_LIMIT)
    name, kind = item.child("name"), item.child("type")
    yield from require_text(name, "a name relative to the zone")
    yield from judge_owner(name, kind.text)
    if kind.value not in list(RecordType):
        yield kind.fault(f"one of {', '.join(RecordType)}", FaultReason.NOT_SUPPORTED)
    if item.child("ttl").present:
        yield from require_integer(item.child("ttl"), 1, TTL_MAX_S)
    yield from judge_body(item, lambda _: Switch.UNKNOWN)
    for payload in Target.RECORD_SET.payloads:
        if contract and item.child(payload).value != before.child(payload).value:
            yield from contract.judge_payload(Target.RECORD_SET, payload, item)


def _content(item: Field) -> Mapping[str, Any]:
    value = item.value if isinstance(item.value, Mapping) else {}
    return {name: each for name, each in value.items() if name not in DECIDED}


def _judge_provider_data(holder: Field, before: Field, storage: Storage, target: Target) -> Iterator[Fault]:
    data = holder.at("provider.data")
    if data.value != before.at("provider.data").value:
        yield from judge_data(data, storage, target)
    yield from _judge_state(holder.at("provider.state"))


def _judge_state(state: Field) -> Iterator[Fault]:
    if state.present:
        yield from require_object(state, "an object")


def _key(item: Any) -> Hashable | None:
    """The RecordSet that a raw item stands for."""
    return _pair(item, "recordSetNamespace", "recordSetName")


def _identity(item: Any) -> Hashable | None:
    """The records that a raw item stands for."""
    return _pair(item, "name", "type")


def _pair(item: Any, first: str, second: str) -> Hashable | None:
    if not isinstance(item, dict):
        return None
    one, other = item.get(first), item.get(second)
    return (one, other) if isinstance(one, str) and isinstance(other, str) and one and other else None
