"""`HostedZone`: the one object between the manager, which writes spec, and the name servers, which write status.

A manifest holds a whole snapshot, inline or as a list of pages; a page is a HostedZone too, immutable and named by its digest.
Never decides what a zone should hold.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from zonemodel.model import Model
from zonemodel.record import TTL_MAX_S, RecordBodies, RecordType

GROUP: Final = "hosted.dns.appthrust.io"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
KIND: Final = "HostedZone"
PLURAL: Final = "hostedzones"

Ttl = Annotated[int, Field(ge=0, le=TTL_MAX_S)]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


def _list_map(*keys: str) -> dict[str, Any]:
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


class Source(Model):
    """The ledger object that a snapshot was made from."""

    name: Annotated[str, Field(description="Name of the ZoneUnit, in the same namespace.")]
    uid: Annotated[str, Field(description="UID of the ZoneUnit.")]
    generation: Annotated[int, Field(ge=0, description="Generation of the ZoneUnit that the snapshot reflects.")]


class SOATimers(Model):
    """Start of authority values that are the same for every zone of a kind (RFC 1035 section 3.3.13)."""

    refresh: Annotated[
        int, Field(ge=1, le=TTL_MAX_S, description="Seconds between the refresh checks of secondaries.")
    ] = 7200
    retry: Annotated[
        int, Field(ge=1, le=TTL_MAX_S, description="Seconds before a secondary repeats a failed refresh.")
    ] = 900
    expire: Annotated[
        int, Field(ge=1, le=TTL_MAX_S, description="Seconds after which an unrefreshed secondary stops answering.")
    ] = 1209600
    ttl: Annotated[
        int, Field(ge=0, le=TTL_MAX_S, description="TTL in seconds of the SOA record and of the apex NS set.")
    ] = 3600


class SOA(SOATimers):
    """Start of authority values of one zone, without the serial."""

    mname: Annotated[str, Field(description="Primary name server of the zone: absolute, lowercase, no trailing dot.")]
    rname: Annotated[
        str, Field(description="Mailbox of the person responsible, as a domain name without trailing dot.")
    ]
    minimum: Annotated[
        int, Field(ge=0, le=TTL_MAX_S, description="Seconds that a negative answer may be cached (RFC 2308).")
    ] = 300


class NameServer(Model):
    """One apex name server."""

    name: Annotated[str, Field(description="Name of the server: absolute, lowercase, no trailing dot.")]
    addresses: Annotated[
        tuple[str, ...],
        Field(
            description="IPv4 and IPv6 addresses, needed when the name lies inside the zone.",
            json_schema_extra={"x-kubernetes-list-type": "set"},
        ),
    ] = ()


class Transfer(Model):
    """Who may transfer the zone and who is told of changes."""

    allow: Annotated[
        tuple[str, ...],
        Field(
            description="Addresses, prefixes or key:<name> entries that may transfer the zone.",
            json_schema_extra={"x-kubernetes-list-type": "set"},
        ),
    ] = ()
    notify: Annotated[
        tuple[str, ...],
        Field(
            description="Addresses, with an optional port, that are sent a NOTIFY after each change (RFC 1996).",
            json_schema_extra={"x-kubernetes-list-type": "set"},
        ),
    ] = ()


class HostedRecordSet(RecordBodies):
    """One record set of a snapshot."""

    name: Annotated[str, Field(description="Owner name relative to the zone: @, *, *.rel or rel.")]
    type: Annotated[RecordType, Field(description="Record type.")]
    ttl: Annotated[int, Field(ge=0, le=TTL_MAX_S, description="TTL in seconds.")]


RecordSets = Annotated[
    tuple[HostedRecordSet, ...],
    Field(description="Record sets, one for each owner name and type.", json_schema_extra=_list_map("name", "type")),
]


class PageRef(Model):
    """A page that a manifest counts in."""

    name: Annotated[str, Field(description="Name of the HostedZone that holds the page, in the same namespace.")]
    digest: Annotated[Digest, Field(description="Digest of the page's record sets.")]


class Page(Model):
    """One share of a large zone's record sets."""

    zone: Annotated[str, Field(description="Name of the manifest that this page belongs to.")]
    digest: Annotated[Digest, Field(description="Digest of the record sets of this page.")]
    record_sets: RecordSets = ()


class HostedZoneSpec(Model):
    """Either a manifest (everything but `page`) or a page (`page` alone)."""

    domain_name: Annotated[str | None, Field(description="Apex of the zone: lowercase ASCII, no trailing dot.")] = None
    source: Annotated[Source | None, Field(description="The ZoneUnit that this snapshot was made from.")] = None
    serial: Annotated[
        int | None, Field(ge=0, le=2**32 - 1, description="SOA serial; moves only when the digest does (RFC 1982).")
    ] = None
    soa: Annotated[SOA | None, Field(description="Start of authority values of the zone.")] = None
    name_servers: Annotated[
        tuple[NameServer, ...],
        Field(description="Name servers of the zone, served as its apex NS set.", json_schema_extra=_list_map("name")),
    ] = ()
    transfer: Annotated[Transfer | None, Field(description="Zone transfer permissions and notifications.")] = None
    digest: Annotated[
        Digest | None, Field(description="Digest of everything that affects an answer except the serial.")
    ] = None
    record_sets: RecordSets = ()
    pages: Annotated[
        tuple[PageRef, ...],
        Field(
            description="Pages that hold the record sets of a zone too large to stand inline.",
            json_schema_extra=_list_map("name"),
        ),
    ] = ()
    page: Annotated[
        Page | None, Field(description="Content of a page; a HostedZone with this field is no manifest.")
    ] = None


class ServerState(StrEnum):
    """What a server made of the newest snapshot it saw."""

    SERVING = "Serving"
    REJECTED = "Rejected"


class ServerStatus(Model):
    """What one name server says; it alone applies its entry, and only when something changed."""

    name: Annotated[str, Field(description="Name of the server (its pod name in a cluster).")]
    observed_generation: Annotated[int, Field(ge=0, description="Generation of the HostedZone that the server judged.")]
    serial: Annotated[int, Field(ge=0, le=2**32 - 1, description="Serial that the server answers with.")]
    digest: Annotated[
        str, Field(description="Digest of the snapshot that the server answers from, empty while it has none.")
    ]
    state: Annotated[ServerState, Field(description="Serving, or Rejected when the newest snapshot could not be used.")]
    message: Annotated[str, Field(max_length=2048, description="Why a snapshot was rejected; empty otherwise.")] = ""
    last_transition_time: Annotated[
        str,
        Field(
            description="Time of the last change of this entry (RFC 3339).", json_schema_extra={"format": "date-time"}
        ),
    ]


class HostedZoneStatus(Model):
    """The servers' own reports."""

    servers: Annotated[
        tuple[ServerStatus, ...],
        Field(description="One entry for each name server.", json_schema_extra=_list_map("name")),
    ] = ()
