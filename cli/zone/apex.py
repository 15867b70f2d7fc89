"""The apex of a zone, SOA and NS, in its two homes: records of a master file, parameters of a hosted ZoneClass.

Owns the way between them. Never says what a RecordSet holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, cast

import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rdtypes.ANY.SOA

from cli.zone.body import name_text
from controllers.providers.hosted.parameter_rule import parse_parameters
from controllers.providers.hosted.parameters import Head, head_of
from zonemodel.name import Fqdn, WireName
from zonemodel.record import RecordType
from zonemodel.rrset import RRset, ZoneData

_SOA: Final = 6


class ApexError(ValueError):
    """Values that make no SOA or NS set; the message says which."""


@dataclass(frozen=True, slots=True)
class Apex:
    """What a master file says at its apex that belongs to no RecordSet."""

    serial: int
    parameters: Mapping[str, Any]


def read_apex(zone: ZoneData) -> Apex:
    """Return the SOA and NS sets of a zone's apex as parameters of a hosted ZoneClass, the serial apart."""
    sets = {(each.owner, each.rdtype): each for each in zone.rrsets}
    soa = sets[zone.origin, _SOA]
    values = cast(
        dns.rdtypes.ANY.SOA.SOA,
        dns.rdata.from_wire(dns.rdataclass.IN, dns.rdatatype.SOA, soa.rdatas[0], 0, len(soa.rdatas[0])),
    )
    servers = sets.get((zone.origin, RecordType.NS.code))
    soa_parameters = {
        "mname": name_text(values.mname.to_wire() or b""),
        "rname": name_text(values.rname.to_wire() or b""),
        "refresh": values.refresh,
        "retry": values.retry,
        "expire": values.expire,
        "ttl": soa.ttl_s,
    }
    found = () if servers is None else sorted(servers.rdatas)
    parameters = {
        "nameServers": [_server(wire, sets) for wire in found],
        "soa": soa_parameters,
        "negativeTTL": values.minimum,
    }
    return Apex(values.serial, parameters)


def _server(wire: bytes, sets: Mapping[tuple[WireName, int], RRset]) -> dict[str, Any]:
    """Return a name server, with its addresses when the zone has them."""
    owner = WireName(wire.lower())
    packed = [each for rtype in (RecordType.A, RecordType.AAAA) for each in _rdatas(sets, owner, rtype)]
    addresses = {"addresses": [str(ip_address(each)) for each in packed]} if packed else {}
    return {"name": name_text(wire), **addresses}


def _rdatas(sets: Mapping[tuple[WireName, int], RRset], owner: WireName, rtype: RecordType) -> Sequence[bytes]:
    found = sets.get((owner, rtype.code))
    return () if found is None else found.rdatas


def head_from_parameters(parameters: Mapping[str, Any], domain: Fqdn) -> Head:
    """Return what a hosted ZoneClass makes the head of a zone; raises ApexError with every fault of the parameters."""
    parsed = parse_parameters(parameters)
    if isinstance(parsed, tuple):
        raise ApexError("; ".join(str(each) for each in parsed))
    return head_of(parsed, domain)


def head_from_server_names(names: Sequence[str], domain: Fqdn) -> Head:
    """Return the head that a class with these servers and nothing else would make; raises ApexError."""
    return head_from_parameters({"nameServers": [{"name": each} for each in names]}, domain)
