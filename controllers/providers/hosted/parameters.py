"""ZoneClass parameters of the hosted provider, and the head of a zone that they give.

Owns the types and their meaning for a zone. What makes a payload wrong is said in `parameter_rule`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from controllers.providers.hosted import parameter_pattern
from zonemodel.hosted_zone import SOA, NameServer, SOATimers, Transfer
from zonemodel.model import Model
from zonemodel.name import Fqdn, OwnerName, relative_to
from zonemodel.record import TTL_MAX_S

DEFAULT_MAILBOX: Final = "hostmaster"
DEFAULT_NEGATIVE_TTL_S: Final = 300


class Payload(Model):
    """A part of the parameters: a field that it does not know is an error, since it would be without effect."""

    model_config = ConfigDict(extra="forbid")


def _texts(pattern: str, description: str) -> dict[str, Any]:
    """Say of a list what its items look like; what is wrong with them in detail is `parameter_rule`'s to say."""
    return {
        "items": {"type": "string", "description": description, "pattern": pattern},
        "x-kubernetes-list-type": "set",
    }


class NameServerParameter(Payload, NameServer):
    """One apex name server of the class's zones."""

    name: Annotated[
        str,
        Field(
            description="Name of the server: absolute, lowercase, no trailing dot.",
            json_schema_extra={"pattern": parameter_pattern.DOMAIN},
        ),
    ]
    addresses: Annotated[
        tuple[str, ...],
        Field(
            description="IPv4 and IPv6 addresses, needed when the name lies inside the zone.",
            json_schema_extra=_texts(parameter_pattern.ADDRESS, "An IPv4 or IPv6 address."),
        ),
    ] = ()


class TransferParameter(Payload, Transfer):
    """Who may transfer the class's zones and who is told of changes."""

    allow: Annotated[
        tuple[str, ...],
        Field(
            description="Addresses, prefixes or key:<name> entries that may transfer the zone.",
            json_schema_extra=_texts(parameter_pattern.ALLOW, "An address, a prefix without host bits, or key:<name>."),
        ),
    ] = ()
    notify: Annotated[
        tuple[str, ...],
        Field(
            description="Addresses, with an optional port, that are sent a NOTIFY after each change (RFC 1996).",
            json_schema_extra=_texts(parameter_pattern.NOTIFY, "An address, with a port when it is not 53."),
        ),
    ] = ()


class SOAParameter(Payload, SOATimers):
    """Start of authority values of the class's zones (RFC 1035 section 3.3.13)."""

    mname: Annotated[
        str | None,
        Field(
            description="Primary name server in the SOA record; the first of nameServers when left out.",
            json_schema_extra={"pattern": parameter_pattern.DOMAIN},
        ),
    ] = None
    rname: Annotated[
        str | None,
        Field(
            description="Mailbox of the person responsible, as a domain name; hostmaster.<zone> when left out.",
            json_schema_extra={"pattern": parameter_pattern.MAILBOX},
        ),
    ] = None
    minimum: Annotated[
        int | None,
        Field(ge=0, le=TTL_MAX_S, description="Same as negativeTTL; give one of them."),
    ] = None


class Parameters(Payload):
    """Parameters of a hosted ZoneClass."""

    name_servers: Annotated[
        tuple[NameServerParameter, ...],
        Field(
            min_length=1,
            max_length=32,
            description="Name servers of the zones, served as the apex NS set and reported in the Zone's status.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ),
    ]
    soa: Annotated[SOAParameter, Field(description="Start of authority values of the zones.")] = SOAParameter()
    negative_ttl: Annotated[
        int | None,
        Field(
            alias="negativeTTL",
            ge=0,
            le=TTL_MAX_S,
            description="Seconds that a negative answer may be cached (RFC 2308); 300 when left out.",
        ),
    ] = None
    transfer: Annotated[
        TransferParameter, Field(description="Zone transfer permissions and notifications; nobody when left out.")
    ] = TransferParameter()
    min_ready_servers: Annotated[
        int,
        Field(ge=1, le=1000, description="How many live name servers must serve a change before it is Programmed."),
    ] = 1


@dataclass(frozen=True, slots=True)
class Head:
    """Everything in a snapshot but the record sets and the serial."""

    domain_name: Fqdn
    soa: SOA
    name_servers: tuple[NameServer, ...]
    transfer: Transfer


def head_of(parameters: Parameters, domain: Fqdn) -> Head:
    """Return the head of a zone of the class."""
    soa = parameters.soa
    negative = soa.minimum if parameters.negative_ttl is None else parameters.negative_ttl
    return Head(
        domain_name=domain,
        soa=SOA(
            mname=soa.mname or parameters.name_servers[0].name,
            rname=soa.rname or f"{DEFAULT_MAILBOX}.{domain}",
            refresh=soa.refresh,
            retry=soa.retry,
            expire=soa.expire,
            minimum=DEFAULT_NEGATIVE_TTL_S if negative is None else negative,
            ttl=soa.ttl,
        ),
        name_servers=tuple(
            NameServer(name=server.name, addresses=server.addresses) for server in parameters.name_servers
        ),
        transfer=Transfer(allow=parameters.transfer.allow, notify=parameters.transfer.notify),
    )


def servers_without_addresses(parameters: Parameters, domain: Fqdn) -> Iterator[tuple[int, str]]:
    """Yield index and name of the name servers that lie inside the zone and could not be found for want of an address."""
    for index, server in enumerate(parameters.name_servers):
        if not server.addresses and relative_to(Fqdn(server.name), domain) is not None:
            yield index, server.name


def hosts_of(head: Head) -> frozenset[OwnerName]:
    """Return the owners inside the zone at which the head puts the addresses of name servers."""
    owners = (relative_to(Fqdn(server.name), head.domain_name) for server in head.name_servers if server.addresses)
    return frozenset(owner for owner in owners if owner is not None)


def without_addresses(head: Head, owners: Container[str]) -> Head:
    """Return the head without the addresses that it puts at these owners."""
    servers = tuple(
        NameServer(name=server.name)
        if server.addresses and relative_to(Fqdn(server.name), head.domain_name) in owners
        else server
        for server in head.name_servers
    )
    return replace(head, name_servers=servers)
