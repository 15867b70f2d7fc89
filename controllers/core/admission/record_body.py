"""The bodies of the seven record types: what each must hold, and that no other body stands beside it.

One generator of faults for each type, in the order in which a person should read them. Knows neither Providers nor zones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from enum import Enum
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from controllers.core.admission.record_name import judge_delegation, require_host
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    Field,
    judge_duplicates,
    require_integer,
    require_list,
    require_text,
)
from zonemodel.name import APEX, object_to_target
from zonemodel.record import RecordType

ENTRY_LIMIT: Final = 4096
"""Entries of one body: more cannot stand in a DNS message of 65,535 octets (RFC 1035 section 4.2.2), 16 octets each."""
TEXT_LIMIT_OCTETS: Final = 4000
RDATA_LIMIT_OCTETS: Final = 65535

_OTHERS_FIRST: Final = frozenset({RecordType.A, RecordType.AAAA, RecordType.TXT})
_TAG: Final = re.compile(r"[a-z0-9]{1,255}\Z")
_NOT_PRINTABLE: Final = re.compile(r"[^\x20-\x7e]")


class Switch(Enum):
    """Whether a core validation holds; UNKNOWN while the Provider that could switch it off is not known."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


class Validation(Enum):
    """The core validations that a Provider may switch off for a record set."""

    REQUIRE_TTL = "require-ttl"
    REQUIRE_A_ADDRESSES = "require-a-addresses"
    REQUIRE_AAAA_ADDRESSES = "require-aaaa-addresses"
    REQUIRE_TXT_VALUES = "require-txt-values"
    FORBID_CNAME_APEX = "forbid-cname-apex"
    FORBID_TXT_NON_PRINTABLE_ASCII = "forbid-txt-non-printable-ascii"


Switches = Callable[[Validation], Switch]
BodyRule = Callable[[Field, Switches], Iterator[Fault]]


def judge_body(record: Field, switches: Switches) -> Iterator[Fault]:
    """Object to the body fields of a record set (a claim's spec or a ledger item); a type without a body is not judged."""
    record_type = record.child("type").text
    rule = _RULES.get(record_type) if record_type else None
    if rule is None or record_type is None:
        return
    if record_type in _OTHERS_FIRST:
        yield from _forbid_others(record, record_type)
        yield from rule(record, switches)
    else:
        yield from rule(record, switches)
        yield from _forbid_others(record, record_type)


def _forbid_others(record: Field, record_type: str) -> Iterator[Fault]:
    own = record_type.lower()
    for other in RecordType:
        body = record.child(other.field)
        if other.field != own and body.present:
            allowed = f"nothing; a record set of type {record_type} has no body but {record.child(own).path}"
            yield body.fault(allowed, FaultReason.FORBIDDEN)


def _judge_a(record: Field, switches: Switches) -> Iterator[Fault]:
    addresses = record.at("a.addresses")
    yield from _judge_addresses(
        addresses, switches(Validation.REQUIRE_A_ADDRESSES), _ipv4, "an IPv4 address such as 192.0.2.1"
    )


def _judge_aaaa(record: Field, switches: Switches) -> Iterator[Fault]:
    addresses = record.at("aaaa.addresses")
    yield from _judge_addresses(
        addresses, switches(Validation.REQUIRE_AAAA_ADDRESSES), _ipv6, "an IPv6 address such as 2001:db8::1"
    )


def _judge_addresses(
    addresses: Field, required: Switch, parse: Callable[[Field], Hashable | None], allowed: str
) -> Iterator[Fault]:
    faults = list(_judge_list(addresses, required, f"a list with at least one item, {allowed}"))
    yield from faults
    if faults or required is Switch.OFF:
        return
    items = list(addresses.items())
    parsed = {item.path: parse(item) for item in items}
    yield from (item.fault(allowed) for item in items if parsed[item.path] is None)
    yield from judge_duplicates(items, lambda item: parsed[item.path], "address")


def _judge_txt(record: Field, switches: Switches) -> Iterator[Fault]:
    values = record.at("txt.values")
    required = switches(Validation.REQUIRE_TXT_VALUES)
    faults = list(_judge_list(values, required, f"a list with at least one text of 1 to {TEXT_LIMIT_OCTETS} octets"))
    yield from faults
    if faults or required is Switch.OFF:
        return
    printable = switches(Validation.FORBID_TXT_NON_PRINTABLE_ASCII) is Switch.ON
    items = list(values.items())
    for item in items:
        yield from _judge_text(item, printable)
    yield from judge_duplicates(items, lambda item: item.text, "text")


def _judge_text(item: Field, printable: bool) -> Iterator[Fault]:
    allowed = f"a text of 1 to {TEXT_LIMIT_OCTETS} octets in UTF-8"
    faults = list(require_text(item, allowed))
    yield from faults
    if faults or item.text is None:
        return
    octets = _utf8(item.text)
    if octets is None:
        yield item.fault(f"{allowed}; this one holds half of a surrogate pair")
    elif len(octets) > TEXT_LIMIT_OCTETS:
        yield item.fault(f"{allowed}; this one takes {len(octets)}", FaultReason.TOO_LONG)
    if printable and (unprintable := _NOT_PRINTABLE.search(item.text)):
        character = f"U+{ord(unprintable[0]):04X}"
        yield item.fault(
            f"printable ASCII only (0x20 to 0x7e); this one holds {character} at position {unprintable.start()}"
        )


def _judge_cname(record: Field, switches: Switches) -> Iterator[Fault]:
    name = record.child("name")
    if name.text == APEX and switches(Validation.FORBID_CNAME_APEX) is Switch.ON:
        yield name.fault(
            "any name below the apex; a CNAME cannot stand beside the SOA of the zone (RFC 1034 section 3.6.2)",
            FaultReason.FORBIDDEN,
        )
    yield from require_host(record.at("cname.target"), object_to_target)


def _judge_mx(record: Field, switches: Switches) -> Iterator[Fault]:
    records = record.at("mx.records")
    faults = list(_judge_list(records, Switch.ON, "a list with at least one item of preference and exchange"))
    yield from faults
    if faults:
        return
    items = list(records.items())
    for item in items:
        yield from require_integer(item.child("preference"), 0, 65535)
        exchange = item.child("exchange")
        if exchange.text != ".":
            yield from require_host(exchange)
    yield from _judge_null_mx(records, items)
    yield from judge_duplicates(items, _pair, "pair of preference and exchange")


def _judge_null_mx(records: Field, items: list[Field]) -> Iterator[Fault]:
    """Object to a "." exchange that is not the only record, with preference 0 (RFC 7505 section 3)."""
    null = next((item for item in items if item.child("exchange").text == "."), None)
    if null is None:
        return
    if len(items) != 1:
        yield records.fault('exactly one item when an exchange is ".", which says that the name takes no mail')
    preference = null.child("preference")
    if preference.integer not in {None, 0}:
        yield preference.fault('0 when the exchange is "."')


def _judge_caa(record: Field, switches: Switches) -> Iterator[Fault]:
    records = record.at("caa.records")
    faults = list(_judge_list(records, Switch.ON, "a list with at least one item of flags, tag and value"))
    yield from faults
    if faults:
        return
    items = list(records.items())
    for item in items:
        yield from require_integer(item.child("flags"), 0, 255)
        yield from _judge_tag(item.child("tag"))
        yield from _judge_caa_value(item.child("value"))
    yield from judge_duplicates(items, _triple, "combination of flags, tag and value")


def _judge_tag(tag: Field) -> Iterator[Fault]:
    allowed = "a property tag of 1 to 255 lowercase letters and digits, such as issue (RFC 8659 section 4.1)"
    faults = list(require_text(tag, allowed))
    yield from faults
    if not faults and not _TAG.match(tag.text or ""):
        yield tag.fault(allowed)


def _judge_caa_value(value: Field) -> Iterator[Fault]:
    faults = list(require_text(value, "a text that is not empty"))
    yield from faults
    if faults or value.text is None:
        return
    octets = _utf8(value.text)
    limit_octets = RDATA_LIMIT_OCTETS - 2 - 255
    if octets is None:
        yield value.fault("a text without halves of surrogate pairs")
    elif len(octets) > limit_octets:
        yield value.fault(
            f"a text of at most {limit_octets} octets; this one takes {len(octets)}", FaultReason.TOO_LONG
        )


def _judge_ns(record: Field, switches: Switches) -> Iterator[Fault]:
    yield from judge_delegation(record.child("name"))
    servers = record.at("ns.nameServers")
    faults = list(_judge_list(servers, Switch.ON, "a list with at least one name of a server"))
    yield from faults
    if faults:
        return
    items = list(servers.items())
    for item in items:
        yield from require_host(item)
    yield from judge_duplicates(items, lambda item: item.text, "name server")


def _judge_list(field: Field, required: Switch, allowed: str) -> Iterator[Fault]:
    """Object to a list that is missing, empty or too long; with UNKNOWN a missing one passes, with OFF everything does."""
    if required is Switch.OFF or (required is Switch.UNKNOWN and not field.present):
        return
    yield from require_list(field, allowed, ENTRY_LIMIT)


def _ipv4(item: Field) -> Hashable | None:
    try:
        return IPv4Address(item.text).packed if item.text else None
    except AddressValueError:
        return None


def _ipv6(item: Field) -> Hashable | None:
    try:
        return IPv6Address(item.text).packed if item.text and "%" not in item.text else None
    except AddressValueError:
        return None


def _pair(item: Field) -> Hashable | None:
    preference, exchange = item.child("preference").integer, item.child("exchange").text
    return None if preference is None or exchange is None else (preference, exchange)


def _triple(item: Field) -> Hashable | None:
    flags, tag, value = item.child("flags").integer, item.child("tag").text, item.child("value").text
    return None if flags is None or tag is None or value is None else (flags, tag, value)


def _utf8(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


_RULES: Final[Mapping[str, BodyRule]] = {
    RecordType.A: _judge_a,
    RecordType.AAAA: _judge_aaaa,
    RecordType.TXT: _judge_txt,
    RecordType.CNAME: _judge_cname,
    RecordType.MX: _judge_mx,
    RecordType.CAA: _judge_caa,
    RecordType.NS: _judge_ns,
}
