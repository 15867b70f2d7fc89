"""Record types of master files that dnspython knows no text form for, or knows more narrowly than their RFCs have it (RFC 1035, 2535, 2874,
6742, 9460, and the IANA registry of DNS parameters).

Owns their layouts, field by field, and the names of some. Never reads what other types have.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Callable, Mapping
from typing import Final

import dns.dnssectypes
import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.tokenizer
from dns.rdtypes.IN.HTTPS import HTTPS
from dns.rdtypes.IN.SVCB import SVCB

Field = Callable[[dns.tokenizer.Tokenizer, "dns.name.Name | None"], bytes]
"""Reads one field of record data; relative names are completed with the name."""

_SERVICE_BINDINGS: Final = {64: SVCB, 65: HTTPS}
_PRIORITY_BYTES: Final = 2
_LONGEST_GROUP: Final = 4
_GROUPS: Final = 4
_BITMAP_TYPES: Final = 128
_A6_BITS: Final = 128

_NUMBERS: Final = {"EID": 31, "NIMLOC": 32, "ATMA": 34, "SINK": 40, "RKEY": 57, "TALINK": 58, "DOA": 259}
"""Types whose very names dnspython does not know."""


def type_number(text: str) -> int | None:
    """Return the number of a type that only this module knows the name of."""
    return _NUMBERS.get(text.upper())


def read_data(rdtype: int, tokens: dns.tokenizer.Tokenizer, origin: dns.name.Name | None) -> bytes | None:
    """Return the record data that follow, None when the type is none of these or the data are in the form of RFC 3597.

    Raises dnspython's exceptions for what is not of the type's form.
    """
    if rdtype in _SERVICE_BINDINGS:
        return _alias_mode(rdtype, tokens, origin)
    layout = _LAYOUTS.get(rdtype)
    if layout is None:
        return None
    first = tokens.get()
    tokens.unget(first)
    if first.is_identifier() and first.value == "\\#":
        return None
    data = b"".join(field(tokens, origin) for field in layout)
    tokens.get_eol()
    return data


def _alias_mode(rdtype: int, tokens: dns.tokenizer.Tokenizer, origin: dns.name.Name | None) -> bytes | None:
    """RFC 9460 section 2.4.2: parameters mean nothing to priority 0 and are no error, so they are read as those of another priority."""
    first = tokens.get()
    if first.is_identifier() and first.value == "\\#":
        size, data = tokens.get_int(), _hex(tokens, origin)
        if size != len(data):
            raise dns.exception.SyntaxError(f"{size} octets are announced and {len(data)} follow")  # type: ignore[no-untyped-call]  # dnspython
        _in_service_mode(rdtype, data)
    elif first.is_identifier() and not first.value.strip("0"):
        tokens.unget(dns.tokenizer.Token(first.ttype, "1"))
        form = _SERVICE_BINDINGS[rdtype]
        try:
            found = form.from_text(dns.rdataclass.IN, dns.rdatatype.RdataType.make(rdtype), tokens, origin, False)
        except (SyntaxError, ValueError) as error:
            raise dns.exception.SyntaxError(str(error)) from error  # type: ignore[no-untyped-call]  # dnspython
        data = bytes(_PRIORITY_BYTES) + (found.to_wire() or b"")[_PRIORITY_BYTES:]
    else:
        tokens.unget(first)
        return None
    tokens.get_eol()
    return data


def _in_service_mode(rdtype: int, data: bytes) -> dns.rdata.Rdata:
    """Read the octets, with priority 1 where they say 0; raises dns.exception.FormError."""
    if data.startswith(bytes(_PRIORITY_BYTES)):
        data = b"\0\1" + data[_PRIORITY_BYTES:]
    return dns.rdata.from_wire(dns.rdataclass.IN, dns.rdatatype.RdataType.make(rdtype), data, 0, len(data))


def write_data(rdtype: int, data: bytes) -> str | None:
    """Return the text that `read_data` makes these octets of, None when dnspython's own text does.

    Raises dns.exception.FormError for octets that the type cannot have.
    """
    if rdtype not in _SERVICE_BINDINGS or not data.startswith(bytes(_PRIORITY_BYTES)):
        return None
    return "0" + _in_service_mode(rdtype, data).to_text()[1:]


def _name(tokens: dns.tokenizer.Tokenizer, origin: dns.name.Name | None) -> bytes:
    return tokens.get_name(origin, False).to_wire() or b""


def _uint(octets: int) -> Field:
    def read(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
        number = tokens.get_int()
        if number >= 1 << 8 * octets:
            raise dns.exception.SyntaxError(f"{number} is more than {octets} octets hold")  # type: ignore[no-untyped-call]  # dnspython
        return number.to_bytes(octets, "big")

    return read


def _groups(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
    """RFC 6742 section 2.1.2: half of an IPv6 address; zeros in front of a group may be left out, whole groups may not."""
    text = tokens.get_string()
    groups = text.split(":")
    if len(groups) != _GROUPS or not all(1 <= len(group) <= _LONGEST_GROUP for group in groups):
        raise dns.exception.SyntaxError(f"{text!r} is not four groups of hexadecimal digits")  # type: ignore[no-untyped-call]  # dnspython
    return b"".join(
        _decoded(lambda each: bytes.fromhex(each.rjust(_LONGEST_GROUP, "0")), group, "hexadecimal digits")
        for group in groups
    )


def _services(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
    """RFC 1035 section 3.4.2: an address, a protocol, and one bit for each port; names are those of the registry, not of this machine."""
    address = _decoded(lambda text: ipaddress.IPv4Address(text).packed, tokens.get_string(), "an IPv4 address")
    protocol = _number(_PROTOCOLS, tokens.get_string(), 0xFF)
    bits = bytearray()
    for token in tokens.get_remaining():
        port = _number(_PORTS, token.value, 0xFFFF)
        bits.extend(bytes(max(0, port // 8 + 1 - len(bits))))
        bits[port // 8] |= 0x80 >> port % 8
    return address + bytes((protocol,)) + bytes(bits)


def _number(known: Mapping[str, int], text: str, most: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() else known.get(text.lower(), most + 1)
    if number > most:
        raise dns.exception.SyntaxError(f"{text!r} is no number up to {most} and no name that is known")  # type: ignore[no-untyped-call]  # dnspython
    return number


def _algorithm(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
    text = tokens.get_string()
    try:
        return bytes((dns.dnssectypes.Algorithm.from_text(text),))
    except ValueError as error:
        raise dns.exception.SyntaxError(f"{text!r} is no algorithm") from error  # type: ignore[no-untyped-call]  # dnspython


def _string(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
    text = tokens.get().unescape_to_bytes().value
    octets = text if isinstance(text, bytes) else text.encode()
    return bytes((len(octets),)) + octets


def _rest(tokens: dns.tokenizer.Tokenizer) -> str:
    return "".join(str(token.value) for token in tokens.get_remaining())


def _hex(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
    return _decoded(bytes.fromhex, _rest(tokens), "hexadecimal digits")


def _base64(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
    text = _rest(tokens)
    return b"" if text == "-" else _decoded(lambda each: base64.b64decode(each, validate=True), text, "base64")


def _decoded(decode: Callable[[str], bytes], text: str, what: str) -> bytes:
    try:
        return decode(text)
    except (ValueError, binascii.Error) as error:
        raise dns.exception.SyntaxError(f"{text!r} is not {what}") from error  # type: ignore[no-untyped-call]  # dnspython


def _atm_address(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
    """An E.164 number after +, or the hexadecimal digits of an AESA."""
    text = _rest(tokens).replace(".", "")
    return (
        b"\x01" + text[1:].encode() if text.startswith("+") else b"\x00" + _decoded(bytes.fromhex, text, "an address")
    )


def _a6(tokens: dns.tokenizer.Tokenizer, origin: dns.name.Name | None) -> bytes:
    """RFC 2874 section 3.1: the length of the prefix, the suffix unless that is all, the prefix name unless there is none."""
    prefix_bits = tokens.get_uint8()
    if prefix_bits > _A6_BITS:
        raise dns.exception.SyntaxError(f"the prefix length {prefix_bits} is more than {_A6_BITS}")  # type: ignore[no-untyped-call]  # dnspython
    suffix = b""
    if prefix_bits < _A6_BITS:
        address = int.from_bytes(
            _decoded(lambda text: ipaddress.IPv6Address(text).packed, tokens.get_string(), "an IPv6 address"), "big"
        )
        bits = _A6_BITS - prefix_bits
        suffix = (address & (1 << bits) - 1).to_bytes((bits + 7) // 8, "big")
    return bytes((prefix_bits,)) + suffix + (_name(tokens, origin) if prefix_bits else b"")


def _old_bitmap(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
    """RFC 2535 section 5.2: one bit for each of the first 128 types."""
    bits = bytearray(_BITMAP_TYPES // 8)
    for token in tokens.get_remaining():
        number = int(dns.rdatatype.from_text(token.value))
        if number >= _BITMAP_TYPES:
            raise dns.exception.SyntaxError(f"{token.value} has no bit, allowed are types below {_BITMAP_TYPES}")  # type: ignore[no-untyped-call]  # dnspython
        bits[number // 8] |= 0x80 >> number % 8
    return bytes(bits).rstrip(b"\0")


_PROTOCOLS: Final = {"icmp": 1, "igmp": 2, "tcp": 6, "egp": 8, "udp": 17}
_PORTS: Final = {
    "echo": 7,
    "discard": 9,
    "systat": 11,
    "daytime": 13,
    "netstat": 15,
    "qotd": 17,
    "chargen": 19,
    "ftp-data": 20,
    "ftp": 21,
    "ssh": 22,
    "telnet": 23,
    "smtp": 25,
    "time": 37,
    "whois": 43,
    "nicname": 43,
    "domain": 53,
    "tftp": 69,
    "gopher": 70,
    "finger": 79,
    "http": 80,
    "www": 80,
    "kerberos": 88,
    "hostname": 101,
    "pop2": 109,
    "pop3": 110,
    "sunrpc": 111,
    "auth": 113,
    "sftp": 115,
    "nntp": 119,
    "ntp": 123,
    "imap": 143,
    "imap2": 143,
    "snmp": 161,
    "ldap": 389,
    "https": 443,
}

_LAYOUTS: Final[dict[int, tuple[Field, ...]]] = {
    3: (_name,),  # MD
    4: (_name,),  # MF
    7: (_name,),  # MB
    8: (_name,),  # MG
    9: (_name,),  # MR
    11: (_services,),  # WKS
    14: (_name, _name),  # MINFO
    30: (_name, _old_bitmap),  # NXT
    31: (_hex,),  # EID
    32: (_hex,),  # NIMLOC
    34: (_atm_address,),  # ATMA
    38: (_a6,),  # A6
    40: (_uint(1), _uint(1), _uint(1), _base64),  # SINK
    57: (_uint(2), _uint(1), _algorithm, _base64),  # RKEY
    58: (_name, _name),  # TALINK
    104: (_uint(2), _groups),  # NID
    106: (_uint(2), _groups),  # L64
    259: (_uint(4), _uint(4), _uint(1), _string, _base64),  # DOA
    32768: (_uint(2), _algorithm, _uint(1), _hex),  # TA
}
