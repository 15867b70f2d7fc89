"""What a zone that external-dns keeps needs to be kept by dns-api: manifests with adoption, and what is left alone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cli.migrate.registry import Affix, Entry, entries_of
from cli.zone.body import NotTextError, decode_body, name_text
from cli.zone.claim import Held, Manifest, Target, record_set_manifest
from controllers.api.endpoint import ADOPTION_ANNOTATION
from controllers.api.group import API_VERSION
from controllers.core.admission.record_body import Switch, judge_body
from controllers.core.admission.record_name import judge_owner
from controllers.core.providercontract.field import Field
from zonemodel.name import Fqdn, OwnerName, relative_to
from zonemodel.record import RecordType
from zonemodel.rrset import RRset, ZoneData

ROUTE53: Final = "route53.dns.appthrust.io"
CLOUDFLARE: Final = "cloudflare.dns.appthrust.io"
ADDRESSES: Final = (RecordType.A, RecordType.AAAA)
SOURCES: Final = ("service/", "httproute/")
_TYPES: Final[Mapping[int, RecordType]] = {each.code: each for each in RecordType}


@dataclass(frozen=True, slots=True)
class Wish:
    """What the plan is to be like.

    `owner_id` restricts it to one external-dns. With `leave_to_sources` what a Service or HTTPRoute publishes by itself has no
    manifest. `zone_adoption` is the provider's own name of the existing zone, to stand in the Zone's adoption.
    """

    target: Target
    affix: Affix = field(default_factory=Affix)
    owner_id: str | None = None
    leave_to_sources: bool = False
    zone_adoption: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The manifests, and a line for everything that is not in them."""

    domain: Fqdn
    manifests: tuple[Manifest, ...]
    notes: tuple[str, ...]
    owned: int
    untouched: int


def plan_migration(zone: ZoneData, wish: Wish) -> Plan:
    """Return what makes dns-api keep what external-dns keeps in a zone; everything else in it is counted as untouched."""
    domain = Fqdn(name_text(zone.origin))
    sets = {(name_text(each.owner), _TYPES[each.rdtype]): each for each in zone.rrsets if each.rdtype in _TYPES}
    entries = [each for each in entries_of(_texts(sets), wish.affix) if wish.owner_id in (None, each.owner)]
    notes: list[str] = []
    manifests: list[Manifest] = [_zone_manifest(domain, wish)]
    owned = dict(_owned(entries, sets, notes))
    for (name, record_type), entry in sorted(owned.items()):
        if wish.leave_to_sources and entry.resource.startswith(SOURCES):
            notes.append(f"{name} {record_type}: left to its source, {entry.resource}")
            continue
        made = _manifest(domain, name, record_type, sets[name, record_type], entry, wish)
        if isinstance(made, str):
            notes.append(f"{name} {record_type}: {made}")
        else:
            manifests.append(made)
    registry = {(each.txt_name, RecordType.TXT) for each in entries}
    untouched = len(set(sets) - set(owned) - registry)
    return Plan(domain, tuple(manifests), tuple(notes), len(owned), untouched)


def _texts(sets: Mapping[tuple[str, RecordType], RRset]) -> Iterator[tuple[str, str]]:
    for (name, record_type), each in sets.items():
        if record_type is not RecordType.TXT:
            continue
        for rdata in each.rdatas:
            try:
                yield from ((name, text) for text in decode_body(RecordType.TXT, [rdata]).fields["values"])
            except NotTextError:
                continue  # octets that are no text are no entry either


def _owned(
    entries: Sequence[Entry], sets: Mapping[tuple[str, RecordType], RRset], notes: list[str]
) -> Iterator[tuple[tuple[str, RecordType], Entry]]:
    """Yield the record sets that entries speak of; an alias of Route 53 has a CNAME's entry and answers with addresses."""
    for entry in entries:
        kinds = (entry.type,) if entry.type is not None else (*ADDRESSES, RecordType.CNAME)
        found = [kind for kind in kinds if (entry.name, kind) in sets]
        itself = [kind for kind in (*ADDRESSES, RecordType.CNAME) if (entry.txt_name, kind) in sets]
        if not found and itself:  # an entry of an older release, at a name that only looks as if it began with a type
            yield from (((entry.txt_name, kind), entry) for kind in itself)
            continue
        if not found and entry.type is RecordType.CNAME and any((entry.name, kind) in sets for kind in ADDRESSES):
            notes.append(
                f"{entry.name} CNAME: the zone answers with addresses, so it is an alias, whose target DNS does not tell; "
                f"leave it to its source, {entry.resource or 'which the entry does not name'}"
            )
        elif not found:
            notes.append(
                f"{entry.name} {entry.type or 'records'}: the entry at {entry.txt_name} has no record set beside it"
            )
        yield from (((entry.name, kind), entry) for kind in found)


def _manifest(
    domain: Fqdn, name: str, record_type: RecordType, rrset: RRset, entry: Entry, wish: Wish
) -> Manifest | str:
    """Return the RecordSet, or why there is none."""
    owner = relative_to(Fqdn(name), domain)
    if owner is None:
        return "it lies outside the zone"
    if rrset.ttl_s == 0:
        return "it has a TTL of 0, allowed are 1 to 2147483647 seconds"
    try:
        fields = decode_body(record_type, rrset.rdatas).fields
    except NotTextError as error:
        return str(error)
    if fault := _fault(owner, record_type, fields):
        return fault
    held = Held(owner, record_type, rrset.ttl_s, fields, len(rrset.rdatas), rejoined=False)
    manifest = record_set_manifest(held, wish.target)
    adoption = _ADOPTIONS.get(wish.target.provider.name)
    if adoption is not None:
        manifest["spec"]["adoption"] = adoption
    manifest["metadata"]["annotations"] = {"dns.appthrust.io/description": _description(entry)}
    return manifest


def _description(entry: Entry) -> str:
    made_for = f" for {entry.resource}" if entry.resource else ""
    return f"kept before by external-dns, owner {entry.owner or 'unknown'}{made_for}"


def _fault(owner: OwnerName, record_type: RecordType, fields: Mapping[str, Any]) -> str | None:
    spec = Field("spec", {"type": record_type.value, "name": owner, record_type.field: fields})
    judges: tuple[Callable[[], Any], ...] = (
        lambda: judge_owner(spec.child("name"), record_type),
        lambda: judge_body(spec, lambda validation: Switch.ON),
    )
    return next((str(fault) for judge in judges for fault in judge()), None)


def _zone_manifest(domain: Fqdn, wish: Wish) -> Manifest:
    target = wish.target
    spec: dict[str, Any] = {
        "domainName": domain,
        "zoneClassRef": target.zone_class.dump(),
        "provider": target.provider.dump(),
    }
    member = _ZONE_ADOPTIONS.get(target.provider.name)
    if member is not None and wish.zone_adoption is not None:
        spec["adoption"] = {member: wish.zone_adoption}
    metadata: dict[str, Any] = {"name": target.zone_name}
    if target.namespace is not None:
        metadata["namespace"] = target.namespace
    if target.provider.name == ROUTE53:
        metadata["annotations"] = {ADOPTION_ANNOTATION: "enabled"}
    return {"apiVersion": API_VERSION, "kind": "Zone", "metadata": metadata, "spec": spec}


_ADOPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {ROUTE53: {"enabled": True}}
"""How a RecordSet says that it takes an existing one over, for providers whose DNS answers tell enough for that."""
_ZONE_ADOPTIONS: Final = {ROUTE53: "hostedZoneId", CLOUDFLARE: "zoneID"}
