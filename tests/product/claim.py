"""Claims as a test thinks of them: an owner name, a type and values in presentation form.

Owns both sides of a claim: the manifest that is applied, and the records that a query has to show then. The latter are made by
dnspython from the values alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rdtypes.ANY.TXT

from controllers.api.group import API_VERSION

PROVIDER = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}
CONTROLLER = "hosted.dns.appthrust.io/controller"
NAME_SERVERS = ("ns1.example.net", "ns2.example.net")
ZONE_CLASS, ZONE = "class", "zone"
STRING_OCTETS = 255

Record = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class Claim:
    """One RecordSet; `values` are rdata in presentation form, names absolute without the last dot, texts unquoted."""

    owner: str
    type: str
    values: tuple[str, ...]
    ttl: int = 60

    @property
    def name(self) -> str:
        """The object's name."""
        owner = self.owner.replace("@", "apex").replace("*", "any").replace("_", "x")
        return f"{owner}-{self.type.lower()}"

    def manifest(self, *, name: str | None = None, zone: str = ZONE) -> dict[str, Any]:
        spec = {
            "zoneRef": {"name": zone},
            "provider": PROVIDER,
            "type": self.type,
            "name": self.owner,
            "ttl": self.ttl,
            **_body(self.type, self.values),
        }
        return manifest("RecordSet", name or self.name, spec)

    def fqdn(self, domain: str) -> str:
        return f"{domain}." if self.owner == "@" else f"{self.owner}.{domain}."

    def records(self, domain: str, owner: str | None = None) -> set[Record]:
        """The records as `tests.server.question.records` names them, at `owner` when a wildcard answers for it."""
        name = owner or self.fqdn(domain)
        return {(name, self.ttl, self.type, _rdata(self.type, value).to_digestable().hex()) for value in self.values}


def claim(owner: str, rdtype: str, *values: str, ttl: int = 60) -> Claim:
    return Claim(owner, rdtype, values, ttl)


def zone_class(name: str = ZONE_CLASS, **parameters: Any) -> dict[str, Any]:
    servers = [{"name": server} for server in NAME_SERVERS]
    spec = {
        "provider": PROVIDER,
        "controllerName": CONTROLLER,
        "parameters": {"nameServers": servers, "negativeTTL": 30, **parameters},
    }
    return manifest("ZoneClass", name, spec)


def zone(domain: str, name: str = ZONE, zone_class: str = ZONE_CLASS) -> dict[str, Any]:
    spec = {"domainName": domain, "zoneClassRef": {"name": zone_class}, "provider": PROVIDER}
    return manifest("Zone", name, spec)


def manifest(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def records_of(claims: Iterable[Claim], domain: str) -> set[Record]:
    """All records of several claims."""
    return {record for each in claims for record in each.records(domain)}


def _body(rdtype: str, values: tuple[str, ...]) -> dict[str, Any]:
    match rdtype:
        case "A" | "AAAA":
            return {rdtype.lower(): {"addresses": list(values)}}
        case "TXT":
            return {"txt": {"values": list(values)}}
        case "CNAME":
            return {"cname": {"target": values[0]}}
        case "NS":
            return {"ns": {"nameServers": list(values)}}
        case "MX":
            pairs = [value.split() for value in values]
            return {"mx": {"records": [{"preference": int(first), "exchange": host} for first, host in pairs]}}
        case "CAA":
            triples = [value.split(" ", 2) for value in values]
            return {
                "caa": {"records": [{"flags": int(flags), "tag": tag, "value": text} for flags, tag, text in triples]}
            }
    raise ValueError(f"there is no body for {rdtype}")


def _rdata(rdtype: str, value: str) -> dns.rdata.Rdata:
    match rdtype:
        case "TXT":
            octets = value.encode()
            strings = [octets[at : at + STRING_OCTETS] for at in range(0, len(octets), STRING_OCTETS)]
            return dns.rdtypes.ANY.TXT.TXT(dns.rdataclass.IN, dns.rdatatype.TXT, strings)
        case "CAA":
            flags, tag, text = value.split(" ", 2)
            value = f'{flags} {tag} "{text}"'
    return dns.rdata.from_text("IN", rdtype, value, origin=dns.name.root, relativize=False)
