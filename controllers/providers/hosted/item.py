"""Items of the ledger as lines of a snapshot.

Owns the conversion and its cache: an item that has not changed is not converted again. Never decides whether a line is served.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from controllers.api.zone_unit import UnitRecordSet
from kube.object import ObjectKey
from zonemodel.canonical import encode_canonical
from zonemodel.hosted_zone import HostedRecordSet
from zonemodel.name import Fqdn, OwnerName, object_to_length, to_wire
from zonemodel.record import RecordType, encode_bodies
from zonemodel.rrset import ANSWER_MAX_OCTETS, answer_octets

DEFAULT_TTL_S: Final = 300


class RecordKey(NamedTuple):
    """Identity of a record set inside its zone."""

    name: str
    type: RecordType


@dataclass(frozen=True, slots=True)
class Line:
    """One record set of a snapshot and its JSON; two lines are equal when their JSON is."""

    record: HostedRecordSet = field(compare=False)
    json: bytes

    @classmethod
    def of(cls, record: HostedRecordSet) -> Line:
        """Return the line of a record set."""
        return cls(record, encode_canonical(record.dump()))

    @property
    def key(self) -> RecordKey:
        return RecordKey(self.record.name, self.record.type)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the ledger: its line, or the fault that keeps it from having one."""

    source: UnitRecordSet
    key: ObjectKey
    record_key: RecordKey
    line: Line | None
    fault: str = ""


Items = tuple[Item, ...]


def convert(source: UnitRecordSet, domain: Fqdn) -> Item:
    """Return an item of the ledger with its line; one that no message can hold would make servers refuse the whole snapshot."""
    record_key = RecordKey(source.name, source.type)
    body = getattr(source, source.type.field)
    if body is None:
        return Item(source, source.key, record_key, None, f"{source.type.field} is missing")
    ttl = DEFAULT_TTL_S if source.ttl is None else source.ttl
    record = HostedRecordSet.model_validate(
        {"name": source.name, "type": source.type, "ttl": ttl, source.type.field: body}
    )
    try:
        to_wire(source.name.removeprefix("@"))
        octets = answer_octets(encode_bodies(record))
    except ValueError as error:
        return Item(source, source.key, record_key, None, f"{source.type.field}: {error}")
    if octets > ANSWER_MAX_OCTETS:
        fault = f"{source.type.field}: takes {octets} octets in a message, allowed are {ANSWER_MAX_OCTETS}"
        return Item(source, source.key, record_key, None, fault)
    if objection := object_to_length(OwnerName(source.name), domain):
        return Item(source, source.key, record_key, None, objection)
    return Item(source, source.key, record_key, Line.of(record))
