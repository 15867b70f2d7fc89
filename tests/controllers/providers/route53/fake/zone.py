"""One hosted zone: its record sets, and the batches that change all of them or none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.controllers.providers.route53.fake.error import AwsError, invalid_batch, invalid_input
from tests.controllers.providers.route53.fake.name import Labels, read_name, sort_key, write_name
from tests.controllers.providers.route53.fake.value import ValueFaultError, check_value

VALUES_LIMIT = 1000
RECORD_SETS_QUOTA = 10_000
VALUE_LIMIT = 4000
CHARACTERS_LIMIT = 32000
NAME_SERVERS = ("ns-1.awsdns-00.com", "ns-514.awsdns-00.net", "ns-1025.awsdns-00.org", "ns-1537.awsdns-00.co.uk")

RecordKey = tuple[Labels, str, str]
Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RecordSet:
    """A record set as it was written, and what it is compared by."""

    labels: Labels
    type: str
    identifier: str
    wire: Wire = field(compare=False)
    ttl: int | None
    values: frozenset[object]
    alias: tuple[object, ...] | None
    rest: tuple[tuple[str, str], ...]

    @property
    def key(self) -> RecordKey:
        return self.labels, self.type, self.identifier

    def shown(self) -> Wire:
        return {**self.wire, "Name": write_name(self.labels)}


class HostedZone:
    """Records by name, type and set identifier."""

    def __init__(self, zone_id: str, labels: Labels, account: str, reference: str, comment: str, private: bool) -> None:
        self.id = zone_id
        self.labels = labels
        self.account = account
        self.reference = reference
        self.comment = comment
        self.private = private
        self.tags: dict[str, str] = {}
        self.records: dict[RecordKey, RecordSet] = {}
        self.quota = RECORD_SETS_QUOTA
        for wire in _apex(labels):
            record = read_record_set(wire)
            self.records[record.key] = record

    @property
    def name(self) -> str:
        return write_name(self.labels)

    @property
    def is_empty(self) -> bool:
        return all(labels == self.labels and rdtype in {"NS", "SOA"} for labels, rdtype, _ in self.records)

    def sorted(self) -> list[RecordSet]:
        return sorted(self.records.values(), key=lambda each: (sort_key(each.labels), each.type, each.identifier))

    def page(self, start: tuple[str, str, str] | None, limit: int) -> tuple[list[RecordSet], RecordSet | None]:
        """Return the record sets from a name, type and identifier on, and the one that the next page begins with."""
        records = self.sorted()
        if start is not None:
            name, rdtype, identifier = start
            floor = (sort_key(read_name(name)), rdtype, identifier)
            records = [each for each in records if (sort_key(each.labels), each.type, each.identifier) >= floor]
        return records[:limit], records[limit] if len(records) > limit else None

    def apply(self, changes: list[tuple[str, Wire]]) -> None:
        """Apply a batch as a whole. Raises AwsError when anything about it is wrong; then nothing has changed."""
        _check_limits(changes)
        faults: list[str] = []
        after = dict(self.records)
        for action, wire in changes:
            try:
                record = read_record_set(wire)
            except ValueFaultError as fault:
                faults.append(str(fault))
                continue
            faults += self._change(after, action, record)
        if len(after) > max(self.quota, len(self.records)):
            faults.append(f"Number of resource record sets limit of {self.quota} exceeded.")
        faults = faults or list(self._conflicts(after, {each for _, each in _keys(changes)}))
        if faults:
            raise invalid_batch(faults)
        self.records = after

    def _change(self, after: dict[RecordKey, RecordSet], action: str, record: RecordSet) -> Iterator[str]:
        named = f"resource record set [name='{write_name(record.labels)}', type='{record.type}']"
        if record.labels[-len(self.labels) :] != self.labels:
            yield f"RRSet with DNS name {write_name(record.labels)} is not permitted in zone {self.name}"
            return
        current = after.get(record.key)
        match action:
            case "CREATE" if current is not None:
                yield f"Tried to create {named} but it already exists"
            case "DELETE" if current is None:
                yield f"Tried to delete {named} but it was not found"
            case "DELETE" if current != record:
                yield f"Tried to delete {named} but the values provided do not match the current values"
            case "DELETE":
                if record.labels == self.labels and record.type in {"NS", "SOA"}:
                    yield f"A HostedZone must contain at least one {record.type} record for the zone itself."
                del after[record.key]
            case "CREATE" | "UPSERT":
                after[record.key] = record
            case _:
                raise invalid_input(f"1 validation error detected: Value '{action}' at 'action' is not an action")

    def _conflicts(self, after: dict[RecordKey, RecordSet], touched: set[Labels]) -> Iterator[str]:
        by_name: dict[Labels, list[RecordSet]] = {}
        for record in after.values():
            by_name.setdefault(record.labels, []).append(record)
        for labels in sorted(touched):
            records = by_name.get(labels, [])
            types = {each.type for each in records}
            name = write_name(labels)
            if "CNAME" in types and labels == self.labels:
                yield f"RRSet of type CNAME with DNS name {name} is not permitted at apex in zone {self.name}"
            elif "CNAME" in types and len(types) > 1:
                words = "is not permitted as it conflicts with other records with the same DNS name in zone"
                yield f"RRSet of type CNAME with DNS name {name} {words} {self.name}"
            for record in records:
                if record.type == "CNAME" and len(record.values) > 1:
                    yield f"The {name} CNAME record must have exactly one value"
                if not record.identifier and any(each.identifier and each.type == record.type for each in records):
                    words = "is not permitted because of a conflicting RRSet with a set identifier in zone"
                    yield f"RRSet with DNS name {name}, type {record.type} {words} {self.name}"


def read_record_set(wire: Wire) -> RecordSet:
    """Return a record set that a request holds. Raises AwsError, or ValueFaultError for what is a fault of the batch."""
    labels = read_name(wire["Name"])
    rdtype = wire["Type"]
    alias = wire.get("AliasTarget")
    values = [each["Value"] for each in wire.get("ResourceRecords", ())]
    if alias is not None and (values or "TTL" in wire):
        raise invalid_input("Invalid XML ; an alias has neither TTL nor ResourceRecords")
    if alias is None and (not values or "TTL" not in wire):
        raise invalid_input("Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords]]")
    if any(len(value) > VALUE_LIMIT for value in values):
        raise invalid_input(f"Value at 'value' failed to satisfy constraint: at most {VALUE_LIMIT} characters")
    ttl = int(wire["TTL"]) if "TTL" in wire else None
    if ttl is not None and not 0 <= ttl <= 2147483647:
        raise invalid_input(f"Value '{ttl}' at 'ttl' failed to satisfy constraint")
    checked = [check_value(rdtype, value) for value in values]
    if len(set(checked)) != len(checked):
        raise ValueFaultError(f"Duplicate Resource Record: '{values[0]}'")
    known = {"Name", "Type", "TTL", "ResourceRecords", "AliasTarget", "SetIdentifier"}
    return RecordSet(
        labels=labels,
        type=rdtype,
        identifier=wire.get("SetIdentifier", ""),
        wire=wire,
        ttl=ttl,
        values=frozenset(checked),
        alias=_alias(alias),
        rest=tuple(sorted((key, repr(value)) for key, value in wire.items() if key not in known)),
    )


def _alias(target: Wire | None) -> tuple[object, ...] | None:
    if target is None:
        return None
    if not {"HostedZoneId", "DNSName", "EvaluateTargetHealth"} <= target.keys():
        raise invalid_input("An AliasTarget needs HostedZoneId, DNSName and EvaluateTargetHealth")
    zone_id = target["HostedZoneId"].removeprefix("/hostedzone/")
    return zone_id, read_name(target["DNSName"]), target["EvaluateTargetHealth"]


def _check_limits(changes: list[tuple[str, Wire]]) -> None:
    values = characters = 0
    for action, wire in changes:
        weight = 2 if action == "UPSERT" else 1
        records = wire.get("ResourceRecords", ())
        values += weight * max(1, len(records))
        characters += weight * sum(len(each["Value"]) for each in records)
    if not changes:
        raise invalid_input(
            "1 validation error detected: Value '[]' at 'changeBatch.changes' failed to satisfy constraint"
        )
    if values > VALUES_LIMIT:
        raise invalid_batch([f"Number of records limit of {VALUES_LIMIT} exceeded."])
    if characters > CHARACTERS_LIMIT:
        raise invalid_batch([f"Number of characters limit of {CHARACTERS_LIMIT} exceeded."])


def _keys(changes: list[tuple[str, Wire]]) -> Iterator[tuple[str, Labels]]:
    for action, wire in changes:
        try:
            yield action, read_name(wire["Name"])
        except AwsError:
            continue


def _apex(labels: Labels) -> Iterator[Wire]:
    name = write_name(labels)
    servers = [{"Value": f"{server}."} for server in NAME_SERVERS]
    yield {"Name": name, "Type": "NS", "TTL": "172800", "ResourceRecords": servers}
    soa = f"{NAME_SERVERS[0]}. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400"
    yield {"Name": name, "Type": "SOA", "TTL": "900", "ResourceRecords": [{"Value": soa}]}
