"""Record types of master files that dnspython knows no text form for (RFC 1035, 2535, 2874, and the IANA registry of DNS parameters).

Owns their layouts, field by field, and the names of some. Never reads what other types have.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Callable
from typing import Final

import dns.dnssectypes
import dns.exception
import dns.name
import dns.rdatatype
import dns.tokenizer

Field = Callable[[dns.tokenizer.Tokenizer, "dns.name.Name | None"], bytes]
"""Reads one field of record data; relative names are completed with the name."""

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


def _name(tokens: dns.tokenizer.Tokenizer, origin: dns.name.Name | None) -> bytes:
    return tokens.get_name(origin, False).to_wire() or b""


def _uint(octets: int) -> Field:
    def read(tokens: dns.tokenizer.Tokenizer, _origin: dns.name.Name | None) -> bytes:
        number = tokens.get_int()
        if number >= 1 << 8 * octets:
            raise dns.exception.SyntaxError(f"{number} is more than {octets} octets hold")  # type: ignore[no-untyped-call]  # dnspython
        return number.to_bytes(octets, "big")

    return read


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


_LAYOUTS: Final[dict[int, tuple[Field, ...]]] = {
    3: (_name,),  # MD
    4: (_name,),  # MF
    7: (_name,),  # MB
    8: (_name,),  # MG
    9: (_name,),  # MR
    14: (_name, _name),  # MINFO
    30: (_name, _old_bitmap),  # NXT
    31: (_hex,),  # EID
    32: (_hex,),  # NIMLOC
    34: (_atm_address,),  # ATMA
    38: (_a6,),  # A6
    40: (_uint(1), _uint(1), _uint(1), _base64),  # SINK
    57: (_uint(2), _uint(1), _algorithm, _base64),  # RKEY
    58: (_name, _name),  # TALINK
    259: (_uint(4), _uint(4), _uint(1), _string, _base64),  # DOA
    32768: (_uint(2), _algorithm, _uint(1), _hex),  # TA
}
