"""What a refusal of a master file says: where, what was found, what is allowed.

Owns the words. Never decides what is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import dns.exception
import dns.name
import dns.rdatatype

_QUOTED_CHARACTERS: Final = 100
_SURPLUS: Final = re.compile(r'expected EOL or EOF, got \d+ (".*")')
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_DATA_FORMS: Final = {
    "A": "one IPv4 address such as 192.0.2.1",
    "AAAA": "one IPv6 address such as 2001:db8::1",
    "CAA": 'flags from 0 to 255, a tag and a value, such as 0 issue "ca.example.net"',
    "CNAME": "one domain name",
    "DNAME": "one domain name",
    "MX": "a preference from 0 to 65535 and a domain name",
    "NS": "one domain name",
    "PTR": "one domain name",
    "SOA": "two domain names, then serial, refresh, retry, expire and minimum",
    "SRV": "priority, weight and port from 0 to 65535 and a domain name",
    "TXT": "strings of at most 255 octets each",
}


class ZoneFileError(ValueError):
    """A master file that cannot be read: where, what was found and what is allowed."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")
        self.file = file
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry begins: lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def error(self, message: str) -> ZoneFileError:
        return ZoneFileError(self.file, self.line, message)


def data_form(rdtype: dns.rdatatype.RdataType) -> str:
    """Return the form that a type's record data have in a master file."""
    kind = dns.rdatatype.to_text(rdtype)
    return _DATA_FORMS.get(kind, f"the form of {kind}, or \\# with a length and hexadecimal digits (RFC 3597)")


def reason(error: dns.exception.DNSException) -> str:
    """Return dnspython's own words on one line; where they name tokens by their number, ours."""
    if isinstance(error, dns.name.NeedAbsoluteNameOrOrigin):
        return "a relative name and no origin is known; give one or write $ORIGIN"
    text = " ".join((str(error) or error.__doc__ or type(error).__name__).split()).rstrip(".")
    if surplus := _SURPLUS.fullmatch(text):
        return f"{surplus[1]} is more than the record data hold"
    return text[0].lower() + text[1:] if text[1:2].islower() else text


def line_of(text: str, line: int) -> str:
    """Return one line of a file, without its end."""
    return _LINE_END.split(text)[line - 1]


def quote_line(text: str, line: int) -> str:
    """Return one line of a file for a message: quoted, and its beginning only when it is long."""
    found = line_of(text, line).strip()
    return repr(found if len(found) <= _QUOTED_CHARACTERS else f"{found[:_QUOTED_CHARACTERS]}...")
