"""Record sets of Route 53 as values that can be compared, and as the objects of its API.

Pure. Owns the equality that drift is judged by: an alias by its target without a TTL, everything else by TTL and values. Never decides
who a record set belongs to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from controllers.providers.route53.name import read_name
from controllers.providers.route53.value import Meaning, read_value

_PLAIN_MEMBERS: Final = frozenset({"Name", "Type", "TTL", "ResourceRecords", "AliasTarget"})
HOSTED_ZONE_PREFIX: Final = "/hostedzone/"

Wire = Mapping[str, Any]
"""A ResourceRecordSet as the API takes and gives it."""


class RecordKey(NamedTuple):
    """Identity of a record set in its hosted zone: name without last dot, and type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Values:
    """The content of a record set with values; `count` tells one value from the same one twice."""

    ttl_s: int
    values: frozenset[Meaning]
    count: int


@dataclass(frozen=True, slots=True)
class Alias:
    """The content of an alias record set."""

    dns_name: str
    hosted_zone_id: str
    evaluate_target_health: bool


Content = Values | Alias


@dataclass(frozen=True, slots=True)
class Record:
    """One record set: what it means and how it is written. `content` is None for what we never write, such as a routing policy."""

    key: RecordKey
    content: Content | None
    wire: Wire = field(compare=False)


Observed = Mapping[RecordKey, tuple[Record, ...]]
"""Every record set of a hosted zone; several of one key when a routing policy tells them apart."""


def read_record(wire: Wire) -> Record:
    """Return a ResourceRecordSet of a listing. Raises ValueError when its name cannot be read."""
    key = RecordKey(read_name(str(wire["Name"])), str(wire["Type"]))
    if not wire.keys() <= _PLAIN_MEMBERS:
        return Record(key, None, wire)
    target = wire.get("AliasTarget")
    if target is not None:
        return Record(key, _read_alias(target), wire)
    values = [str(each["Value"]) for each in wire.get("ResourceRecords", ())]
    meanings = frozenset(read_value(key.type, value) for value in values)
    return Record(key, Values(int(wire.get("TTL", 0)), meanings, len(values)), wire)


def values_record(key: RecordKey, ttl_s: int, values: Sequence[str]) -> Record:
    """Return a record set with values, to be written."""
    wire = {
        "Name": f"{key.name}.",
        "Type": key.type,
        "TTL": ttl_s,
        "ResourceRecords": [{"Value": value} for value in values],
    }
    return read_record(wire)


def alias_record(key: RecordKey, dns_name: str, hosted_zone_id: str, *, evaluate_target_health: bool) -> Record:
    """Return an alias record set, to be written. Raises ValueError when the target's name cannot be read."""
    target = {"HostedZoneId": hosted_zone_id, "DNSName": dns_name, "EvaluateTargetHealth": evaluate_target_health}
    return read_record({"Name": f"{key.name}.", "Type": key.type, "AliasTarget": target})


def fingerprint(record: Record) -> str:
    """Return a short digest of what a record set is and means, the same for every spelling of it."""
    match record.content:
        case Values(ttl_s, values):
            content = f"{ttl_s} {sorted(repr(value) for value in values)!r}"
        case Alias() as alias:
            content = repr(alias)
        case None:
            content = repr(sorted(record.wire.items(), key=lambda each: str(each[0])))
    return hashlib.sha256(f"{record.key!r} {content}".encode()).hexdigest()[:32]


def bare_id(text: str) -> str:
    """Return a hosted zone's or change's ID without the path that the API puts before it."""
    return text.rsplit("/", 1)[-1]


def _read_alias(target: Wire) -> Alias:
    return Alias(
        dns_name=read_name(str(target["DNSName"])),
        hosted_zone_id=bare_id(str(target["HostedZoneId"])),
        evaluate_target_health=bool(target["EvaluateTargetHealth"]),
    )
