"""A master file as one Zone and its RecordSets, with a reason for everything that RecordSets cannot hold.

Pure: a zone in, manifests and reports out. The rules for records are those of admission. Never drops a record without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import dns.name
import dns.rdatatype

from cli.zone.apex import Apex, read_apex
from cli.zone.body import NotTextError, decode_body, name_text
from cli.zone.claim import Held, ImportRefusedError, Manifest, Target, head_manifests, record_set_manifest
from cli.zone.shadow import Shadows
from controllers.core.admission.record_body import Switch, judge_body
from controllers.core.admission.record_name import judge_owner
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.field import Field
from zonemodel.name import APEX, Fqdn, OwnerName, WireName, object_to_domain
from zonemodel.record import RecordType
from zonemodel.rrset import RRset, ZoneData

_SOA: Final = 6
_TYPES: Final[Mapping[int, RecordType]] = {each.code: each for each in RecordType}


class Reason(StrEnum):
    """Why a record set is left out."""

    TYPE = "type that a RecordSet has no body for"
    OCCLUDED = "data below a delegation or DNAME, which no query reaches"
    NAME = "name that a RecordSet cannot have"
    WILDCARD_DELEGATION = "NS at a wildcard"
    APEX_CNAME = "CNAME at the apex"
    CNAME_COEXISTENCE = "CNAME beside other data"
    TTL = "TTL of 0"
    TEXT = "TXT that is not 1 to 4000 octets of printable ASCII"
    VALUE = "value that a RecordSet cannot hold"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record set that has no manifest."""

    name: str
    type: str
    records: int
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Rejoined:
    """A TXT set whose strings a name server will split elsewhere than the file does; what they spell together is the same."""

    name: str


@dataclass(frozen=True, slots=True)
class ZoneImport:
    """The manifests of a zone, and everything that is not in them. `over_limit` counts sets that only the limit kept out."""

    domain: Fqdn
    head: tuple[Manifest, ...]
    record_sets: tuple[Manifest, ...]
    apex: Apex
    left_out: tuple[LeftOut, ...]
    rejoined: tuple[Rejoined, ...]
    over_limit: int

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """The ZoneClass when it was asked for, the Zone, the RecordSets."""
        return self.head + self.record_sets

    @property
    def is_exact(self) -> bool:
        """Whether every record of the file that the limit allows is held as it is."""
        return not (self.left_out or self.rejoined)


def domain_of(zone: ZoneData) -> Fqdn:
    """Return a zone's domain name; raises ImportRefusedError when no Zone can have it."""
    domain = name_text(zone.origin)
    if objection := object_to_domain(domain):
        raise ImportRefusedError(f"the zone {domain} {objection}; a Zone cannot have this spec.domainName")
    return Fqdn(domain)


def import_zone(zone: ZoneData, target: Target, limit: int | None = None) -> ZoneImport:
    """Return the manifests for a zone, record sets in the order of the file and at most `limit` of them.

    Raises ImportRefusedError when the zone's name is none for a Zone, or a ZoneClass is asked for that cannot be made.
    """
    domain = domain_of(zone)
    apex = read_apex(zone)
    judged = list(_judge_all(zone))
    alone = list(_with_lone_cnames([each for each in judged if isinstance(each, Held)]))
    held = [each for each in alone if isinstance(each, Held)]
    taken = held if limit is None else held[:limit]
    return ZoneImport(
        domain,
        tuple(head_manifests(domain, apex, target)),
        tuple(record_set_manifest(each, target) for each in taken),
        apex,
        tuple(each for each in (*judged, *alone) if isinstance(each, LeftOut)),
        tuple(Rejoined(each.owner) for each in taken if each.rejoined),
        len(held) - len(taken),
    )


def _judge_all(zone: ZoneData) -> Iterator[Held | LeftOut]:
    apex = dns.name.from_wire(zone.origin, 0)[0]
    shadows = Shadows(zone)
    for rrset in zone.rrsets:
        if rrset.owner == zone.origin and rrset.rdtype in {_SOA, RecordType.NS.code}:
            continue
        yield _judge(rrset, _owner_text(rrset.owner, apex), shadows)


def _judge(rrset: RRset, owner: OwnerName, shadows: Shadows) -> Held | LeftOut:
    kind = dns.rdatatype.to_text(dns.rdatatype.RdataType.make(rrset.rdtype))

    def left_out(reason: Reason, detail: str) -> LeftOut:
        return LeftOut(owner, kind, len(rrset.rdatas), reason, detail)

    record_type = _TYPES.get(rrset.rdtype)
    if record_type is None:
        return left_out(Reason.TYPE, f"found {kind}, allowed are {', '.join(RecordType)}")
    if (shadow := shadows.over(rrset)) is not None:
        return left_out(Reason.OCCLUDED, shadow)
    if rrset.ttl_s == 0:
        return left_out(Reason.TTL, "found 0, allowed are 1 to 2147483647 seconds")
    try:
        body = decode_body(record_type, rrset.rdatas)
    except NotTextError as error:
        return left_out(Reason.TEXT if record_type is RecordType.TXT else Reason.VALUE, str(error))
    fault = next(_faults(owner, record_type, body.fields), None)
    if fault is not None:
        return left_out(_reason(fault, owner, record_type), str(fault))
    return Held(owner, record_type, rrset.ttl_s, body.fields, len(rrset.rdatas), body.rejoined)


def _faults(owner: OwnerName, record_type: RecordType, fields: Mapping[str, Any]) -> Iterator[Fault]:
    """Judge as admission does, with every core validation switched on."""
    spec = Field("spec", {"type": record_type.value, "name": owner, record_type.field: fields})
    yield from judge_owner(spec.child("name"), record_type)
    yield from judge_body(spec, lambda validation: Switch.ON)


def _reason(fault: Fault, owner: OwnerName, record_type: RecordType) -> Reason:
    if fault.field != "spec.name":
        return Reason.TEXT if record_type is RecordType.TXT else Reason.VALUE
    if record_type is RecordType.CNAME and owner == APEX:
        return Reason.APEX_CNAME
    if record_type is RecordType.NS and (owner == "*" or owner.startswith("*.")):
        return Reason.WILDCARD_DELEGATION
    return Reason.NAME


def _with_lone_cnames(held: Sequence[Held]) -> Iterator[Held | LeftOut]:
    """Leave out each CNAME that would not stand alone (RFC 1034 section 3.6.2): the other data stay what they are."""
    others: dict[OwnerName, list[str]] = {}
    for each in held:
        if each.type is not RecordType.CNAME:
            others.setdefault(each.owner, []).append(each.type)
    for each in held:
        if each.type is RecordType.CNAME and (beside := others.get(each.owner)):
            detail = f"beside {', '.join(beside)}, allowed is a CNAME alone at its name"
            yield LeftOut(each.owner, each.type, each.records, Reason.CNAME_COEXISTENCE, detail)
        else:
            yield each


def _owner_text(owner: WireName, apex: dns.name.Name) -> OwnerName:
    return OwnerName(dns.name.from_wire(owner, 0)[0].relativize(apex).to_text())
