"""Values of record sets: from a ledger's bodies to the texts that Route 53 takes, and from its texts to what they mean.

Pure. Owns quoting and chunking of texts and the comparison of addresses, names, MX and CAA by meaning ("Supported DNS record types" in
the developer guide). Never decides what to do about a difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from controllers.providers.route53.name import read_name
from zonemodel.record import MAX_STRING_OCTETS, RecordBodies, RecordType

VALUE_LIMIT_CHARACTERS: Final = 4000
"""Of a value as it is sent ("ResourceRecord" in the API reference)."""
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"\s*', re.DOTALL)
_CAA: Final = re.compile(r'\s*([0-9]{1,3})\s+([A-Za-z0-9]+)\s+(?:"((?:[^"\\]|\\.)*)"|(\S+))\s*\Z', re.DOTALL)
_OCTAL: Final = re.compile(r"[0-3][0-7]{2}")
_PRINTABLE: Final = re.compile(r"[ -~]*\Z")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that is none for its type; it equals no value that we would write."""

    text: str


Meaning = IPv4Address | IPv6Address | bytes | str | tuple[int, str] | tuple[int, str, bytes] | Unreadable


def write_values(record_type: RecordType, bodies: RecordBodies) -> tuple[str, ...]:
    """Return the values of a body as Route 53 takes them. Raises ValueError, naming the field, when one has no such form."""
    values = tuple(_written(record_type, bodies))
    if not values:
        raise ValueError(f"{record_type.field}: found nothing, allowed: at least one value")
    longest = max(map(len, values))
    if longest > VALUE_LIMIT_CHARACTERS:
        raise ValueError(
            f"{record_type.field}: found a value that takes {longest} characters in Route 53 with its quotes and escapes, "
            f"allowed are {VALUE_LIMIT_CHARACTERS}"
        )
    return values


def read_value(record_type: str, text: str) -> Meaning:
    """Return what a value means; values of types that no claim can hold are compared as they are written."""
    reader = _READERS.get(record_type)
    if reader is None:
        return text
    try:
        return reader(text)
    except (ValueError, AddressValueError):
        return Unreadable(text)


def quote(text: str) -> str:
    """Return a printable text as one quoted string."""
    return '"{}"'.format(text.replace("\\", "\\134").replace('"', '\\"'))


def quote_octets(octets: bytes) -> str:
    """Return the octets of a text as quoted strings of at most 255 octets; what is not printable is written as an octal escape."""
    chunks = [octets[at : at + MAX_STRING_OCTETS] for at in range(0, len(octets), MAX_STRING_OCTETS)] or [b""]
    return " ".join(f'"{"".join(map(_quoted_octet, chunk))}"' for chunk in chunks)


def _quoted_octet(octet: int) -> str:
    if octet == ord('"'):
        return '\\"'
    return chr(octet) if 0x20 <= octet <= 0x7E and octet != ord("\\") else f"\\{octet:03o}"


def _written(record_type: RecordType, bodies: RecordBodies) -> Iterator[str]:
    match record_type:
        case RecordType.A if bodies.a is not None:
            yield from (str(IPv4Address(each)) for each in bodies.a.addresses)
        case RecordType.AAAA if bodies.aaaa is not None:
            yield from (str(IPv6Address(each)) for each in bodies.aaaa.addresses)
        case RecordType.TXT if bodies.txt is not None:
            yield from (_text(index, each) for index, each in enumerate(bodies.txt.values))
        case RecordType.CNAME if bodies.cname is not None:
            yield f"{bodies.cname.target}."
        case RecordType.MX if bodies.mx is not None:
            for mx in bodies.mx.records:
                yield f"{mx.preference} {mx.exchange if mx.exchange == '.' else f'{mx.exchange}.'}"
        case RecordType.CAA if bodies.caa is not None:
            for index, caa in enumerate(bodies.caa.records):
                _require_printable(f"caa.records[{index}].value", caa.value)
                yield f"{caa.flags} {caa.tag} {quote(caa.value)}"
        case RecordType.NS if bodies.ns is not None:
            yield from (f"{each}." for each in bodies.ns.name_servers)


def _text(index: int, text: str) -> str:
    _require_printable(f"txt.values[{index}]", text)
    chunks = [text[at : at + MAX_STRING_OCTETS] for at in range(0, len(text), MAX_STRING_OCTETS)]
    return " ".join(quote(chunk) for chunk in chunks or [""])


def _require_printable(path: str, text: str) -> None:
    if not _PRINTABLE.match(text):
        raise ValueError(f"{path}: found characters outside of printable ASCII, allowed are 0x20 to 0x7e")


def _read_text(text: str) -> bytes:
    """Join the quoted strings of one value."""
    out, at, source = bytearray(), 0, text.strip()
    while at < len(source):
        found = _STRING.match(source, at)
        if found is None:
            raise ValueError("a text is a row of quoted strings")
        out += _unquote(found[1])
        at = found.end()
    return bytes(out)


def _unquote(text: str) -> bytes:
    out, at = bytearray(), 0
    while at < len(text):
        if text[at] != "\\":
            out += text[at].encode()
            at += 1
        elif octal := _OCTAL.match(text, at + 1):
            out.append(int(octal[0], 8))
            at += 4
        else:
            out += text[at + 1].encode()
            at += 2
    return bytes(out)


def _read_mx(text: str) -> tuple[int, str]:
    preference, exchange = text.split()
    if not preference.isdecimal() or int(preference) > 65535:
        raise ValueError("an MX begins with a preference")
    return int(preference), read_name(exchange)


def _read_caa(text: str) -> tuple[int, str, bytes]:
    found = _CAA.match(text)
    if found is None:
        raise ValueError("a CAA is flags, tag and value")
    value = _unquote(found[3]) if found[3] is not None else found[4].encode()
    return int(found[1]), found[2].lower(), value


_READERS: Final[Mapping[str, Callable[[str], Meaning]]] = {
    "A": IPv4Address,
    "AAAA": IPv6Address,
    "TXT": _read_text,
    "CNAME": read_name,
    "MX": _read_mx,
    "CAA": _read_caa,
    "NS": read_name,
}
