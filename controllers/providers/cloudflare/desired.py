"""What an item of the ledger wants at Cloudflare: its records in the form that the API takes.

Pure. Owns the conversion, with its cache, and the comparison of what is wanted with what is there. Settings that an item does not
declare are not compared and not sent: they belong to whoever made them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from controllers.api.zone_unit import UnitRecordSet
from controllers.providers.cloudflare.batch import Body
from controllers.providers.cloudflare.payload import Options
from controllers.providers.cloudflare.payload_rule import PROXIABLE, adopted_ids, object_to_options, parse_payload
from controllers.providers.cloudflare.record import AUTO_TTL, CloudflareRecord, caa_value, mx_value, normal_tag
from controllers.providers.cloudflare.text import quote
from kube.object import ObjectKey
from zonemodel.name import Fqdn, OwnerName, object_to_length, owner_fqdn, to_wire
from zonemodel.record import RecordType

_FINGERPRINT_DIGITS: Final = 16
_NULL_EXCHANGE: Final = "."


@dataclass(frozen=True, slots=True)
class Wanted:
    """One record: its value as octets, and the fields that carry it."""

    value: bytes
    fields: Body


@dataclass(frozen=True, slots=True)
class Desired:
    """All records of one item. `ttl_s` is 1 for the automatic one; `comment` and `tags` are None where nothing is declared."""

    name: Fqdn
    type: RecordType
    records: tuple[Wanted, ...]
    ttl_s: int
    proxied: bool
    comment: str | None
    tags: tuple[str, ...] | None

    def body(self, wanted: Wanted) -> Body:
        """Return one record's fields as the API takes them."""
        body: Body = {"type": self.type.value, "name": self.name, "ttl": self.ttl_s, **wanted.fields}
        if self.type in PROXIABLE:
            body["proxied"] = self.proxied
        if self.comment is not None:
            body["comment"] = self.comment
        if self.tags is not None:
            body["tags"] = list(self.tags)
        return body

    def is_set_like(self, record: CloudflareRecord) -> bool:
        """Say whether a record has the name, type and settings that all records here have."""
        return (
            (record.name, record.type, record.ttl_s, record.proxied) == (self.name, self.type, self.ttl_s, self.proxied)
            and self.comment in (None, record.comment)
            and self.tags in (None, record.tags)
        )

    def fingerprint(self, wanted: Wanted) -> str:
        """Return what a record that was just created from `wanted` can be told by."""
        return fingerprint(wanted.value, self.ttl_s, self.proxied, self.comment or "", self.tags or ())


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the ledger: what it wants, or the fault that keeps it from wanting anything; what it adopts."""

    source: UnitRecordSet
    key: ObjectKey
    name: Fqdn
    desired: Desired | None
    adopts: tuple[str, ...] = ()
    fault: str = ""


Items = tuple[Item, ...]


def convert(source: UnitRecordSet, domain: Fqdn) -> Item:
    """Return an item of the ledger with what it wants."""
    name = owner_fqdn(OwnerName(source.name), domain)
    adopts = adopted_ids(source)
    options = parse_payload(Options, source.options, "options")
    faults = [
        each for each in (adopts, options, object_to_length(OwnerName(source.name), domain)) if isinstance(each, str)
    ]
    if isinstance(options, Options):
        faults += object_to_options(source, options)
    records: tuple[Wanted, ...] = ()
    try:
        records = tuple(_wanted(source))
    except ValueError as error:
        faults.append(f"{source.type.field}: {error}")
    if isinstance(adopts, str) or isinstance(options, str) or faults:
        return Item(source, source.key, name, None, adopts if isinstance(adopts, tuple) else (), "; ".join(faults))
    desired = Desired(
        name=name,
        type=source.type,
        records=records,
        ttl_s=AUTO_TTL if source.ttl is None else source.ttl,
        proxied=options.proxied is True,
        comment=options.comment,
        tags=None if options.tags is None else tuple(sorted(map(normal_tag, options.tags))),
    )
    return Item(source, source.key, name, desired, adopts)


def fingerprint(value: bytes, ttl_s: int, proxied: bool, comment: str, tags: Iterable[str]) -> str:
    """Return a short text that is equal for records that say the same with the same settings."""
    said = "\0".join((value.hex(), str(ttl_s), str(proxied), comment, *tags))
    return hashlib.sha256(said.encode()).hexdigest()[:_FINGERPRINT_DIGITS]


def fingerprints(record: CloudflareRecord) -> tuple[str, ...]:
    """Return what a record can be told by, one text for each value that it may stand for."""
    return tuple(
        fingerprint(value, record.ttl_s, record.proxied, record.comment, record.tags) for value in record.values
    )


def _wanted(source: UnitRecordSet) -> Iterator[Wanted]:
    """Yield the records of an item's body. Raises ValueError when there is none, or one that Cloudflare cannot hold."""
    found = {wanted.value: wanted for wanted in _records(source)}
    if not found:
        raise ValueError("is missing")
    yield from found.values()


def _records(source: UnitRecordSet) -> Iterator[Wanted]:
    match source.type:
        case RecordType.A if source.a is not None:
            yield from (Wanted(IPv4Address(each).packed, {"content": each}) for each in source.a.addresses)
        case RecordType.AAAA if source.aaaa is not None:
            yield from (Wanted(IPv6Address(each).packed, {"content": each}) for each in source.aaaa.addresses)
        case RecordType.TXT if source.txt is not None:
            yield from (Wanted(each.encode(), {"content": quote(each)}) for each in source.txt.values)
        case RecordType.CNAME if source.cname is not None:
            yield Wanted(to_wire(source.cname.target), {"content": source.cname.target})
        case RecordType.NS if source.ns is not None:
            yield from (Wanted(to_wire(each), {"content": each}) for each in source.ns.name_servers)
        case RecordType.MX if source.mx is not None:
            for mx in source.mx.records:
                if mx.exchange == _NULL_EXCHANGE:
                    raise ValueError('exchange: found ".", allowed are names: Cloudflare has no null MX (RFC 7505)')
                value = mx_value(mx.preference, mx.exchange)
                yield Wanted(value, {"content": mx.exchange, "priority": mx.preference})
        case RecordType.CAA if source.caa is not None:
            for caa in source.caa.records:
                data = {"flags": caa.flags, "tag": caa.tag, "value": caa.value}
                yield Wanted(caa_value(caa.flags, caa.tag, caa.value), {"data": data})
