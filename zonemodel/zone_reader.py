"""The grammar of master files (RFC 1035 section 5, RFC 2308 section 4, RFC 3597): text in, records with their line out.

Owns directives, inherited owners, origins and TTLs. Never judges a zone as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.tokenizer
import dns.ttl
from dns.rdtypes.ANY.SOA import SOA

from zonemodel.generate import FORM, GenerateError, Range, expand
from zonemodel.name import WireName
from zonemodel.rare_type import read_data, type_number
from zonemodel.record import TTL_MAX_S
from zonemodel.zone_error import Place, ZoneFileError, data_form, line_of, quote_line, reason

MAX_INCLUDE_DEPTH: Final = 8
MAX_RDATA_OCTETS: Final = 65535

_DIRECTIVES: Final = "$ORIGIN NAME, $TTL SECONDS, $INCLUDE FILE [ORIGIN] and $GENERATE RANGE RECORD"


@dataclass(frozen=True, slots=True)
class Record:
    """One resource record: `owner` lowercase, `rdata` as written, `canonical` as RFC 4034 section 6.2 compares it."""

    owner: WireName
    rdtype: int
    ttl_s: int
    rdata: bytes
    canonical: bytes
    place: Place


class _AsciiOnly(dns.name.IDNACodec):
    """Refuses Unicode labels: which A-label is meant depends on the IDNA version, so the file must say it."""

    def encode(self, label: str) -> bytes:
        if not label.isascii():
            message = f"the label {label!r} is not ASCII, write it in its xn-- form (RFC 5890)"
            raise dns.exception.SyntaxError(message)  # type: ignore[no-untyped-call]  # dnspython leaves it untyped
        return label.encode("ascii")


_ASCII_ONLY: Final = _AsciiOnly()  # type: ignore[no-untyped-call]  # dnspython leaves it untyped


@dataclass(slots=True)
class _Ttl:
    """What an absent TTL means: $TTL, else the last stated one, else the SOA minimum. Shared with included files."""

    default_s: int | None = None
    last_s: int | None = None
    soa_minimum_s: int | None = None

    @property
    def implied_s(self) -> int | None:
        return next((each for each in (self.default_s, self.last_s, self.soa_minimum_s) if each is not None), None)


def read_file(path: Path, name: str, place: Place | None = None) -> str:
    """Return a file's text, calling it `name`; raises ZoneFileError, at `place` when the file is an included one."""
    where = place or Place(name, 1)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise where.error(f"cannot read {name}: {error.strerror or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        octet = data[error.start]
        message = f"found the octet 0x{octet:02x}, which is not UTF-8; write it as \\{octet:03d}"
        raise ZoneFileError(name, line, message) from error


def parse_origin(text: str, place: Place) -> dns.name.Name:
    """Return a zone's origin from its text, with or without the trailing dot; raises ZoneFileError at `place`."""
    try:
        return dns.name.from_text(text, dns.name.root, _ASCII_ONLY).canonicalize()
    except dns.exception.DNSException as error:
        raise place.error(f"found the origin {text!r} ({reason(error)}), allowed is a domain name") from error


class ZoneReader:
    """One pass over one source and what it includes.

    `origin` completes relative names until an $ORIGIN comes; None means that the SOA's owner does, once it has been read.
    `folder` is where $INCLUDE looks; None refuses it. A $TTL in an included file stays in force after it, as RFC 2308
    section 4 has it; origin and owner do not, as RFC 1035 section 5.1 has it.
    """

    def __init__(
        self,
        text: str,
        name: str,
        origin: dns.name.Name | None,
        folder: Path | None,
        *,
        depth: int = 0,
        ttl: _Ttl | None = None,
    ) -> None:
        self._text = text
        self._name = name
        self._origin = origin
        self._folder = folder
        self._depth = depth
        self._ttl = ttl or _Ttl()
        self._tokens = dns.tokenizer.Tokenizer(text, name, _ASCII_ONLY)
        self._owner: dns.name.Name | None = None

    def records(self) -> Iterator[Record]:
        """Yield every record in file order; raises ZoneFileError."""
        while True:
            place = Place(self._name, self._tokens.line_number)
            try:
                token = self._tokens.get(want_leading=True)
                if token.is_eof():
                    return
                if token.is_eol():
                    continue
                if token.is_identifier() and token.value.startswith("$"):
                    yield from self._directive(token.value.upper(), place)
                elif (record := self._record(token, place)) is not None:
                    yield record
            except dns.exception.DNSException as error:
                allowed = f"NAME [TTL] [IN] TYPE DATA, {_DIRECTIVES}"
                found = f"{quote_line(self._text, place.line)} ({reason(error)})"
                raise place.error(f"found {found}, allowed are {allowed}") from error

    def _directive(self, name: str, place: Place) -> Iterator[Record]:
        if name == "$ORIGIN":
            self._origin = self._tokens.get_name(self._origin)
            self._tokens.get_eol_as_token()
        elif name == "$TTL":
            self._ttl.default_s = _stated_ttl(self._tokens.get().value, place)
            self._tokens.get_eol_as_token()
        elif name == "$INCLUDE":
            yield from self._include(place)
        elif name == "$GENERATE":
            yield from self._generate(place)
        else:
            raise place.error(f"found the directive {name}, allowed are {_DIRECTIVES}")

    def _include(self, place: Place) -> Iterator[Record]:
        file = self._tokens.get_string()
        rest = self._tokens.get_remaining(1)
        origin = self._tokens.as_name(rest[0], self._origin) if rest else self._origin
        self._tokens.get_eol_as_token()
        if self._folder is None:
            raise place.error(f"found $INCLUDE {file}, allowed only in a master file on disk")
        if self._depth >= MAX_INCLUDE_DEPTH:
            raise place.error(f"found $INCLUDE at depth {self._depth + 1}, allowed are {MAX_INCLUDE_DEPTH}")
        path = self._folder / file
        text = read_file(path, str(path), place)
        nested = ZoneReader(text, str(path), origin, path.parent, depth=self._depth + 1, ttl=self._ttl)
        nested._owner = self._owner
        yield from nested.records()

    def _generate(self, place: Place) -> Iterator[Record]:
        self._tokens.get_remaining()
        self._tokens.get_eol_as_token()
        _, *parts = line_of(self._text, place.line).split(None, 2)
        try:
            if len(parts) < 2:
                raise GenerateError(f"found no record behind $GENERATE, allowed is {FORM}")
            text = "\n".join(expand(parts[1], number) for number in Range.parse(parts[0]))
            nested = ZoneReader(text, self._name, self._origin, None, depth=self._depth + 1, ttl=self._ttl)
            for record in nested.records():
                yield replace(record, place=place)
        except GenerateError as error:
            raise place.error(str(error)) from error
        except ZoneFileError as error:
            raise place.error(error.message) from error

    def _record(self, first: dns.tokenizer.Token, place: Place) -> Record | None:
        if first.is_whitespace():
            token = self._tokens.get()
            if token.is_eol_or_eof():
                return None
            self._tokens.unget(token)
            if self._owner is None:
                raise place.error("the first record has no owner; write one at the beginning of the line, or @")
        else:
            self._owner = self._absolute_owner(first, place)
        ttl_s, rdtype = self._ttl_class_type(place)
        if rdtype == dns.rdatatype.SOA and self._origin is None:
            self._origin = self._owner
        rdata = self._rdata(rdtype, place)
        if ttl_s is None:
            ttl_s = self._ttl.implied_s
        if ttl_s is None:
            found = quote_line(self._text, place.line)
            raise place.error(f"found no TTL in {found} and nothing says one; state it or write $TTL")
        wire = cast(bytes, rdata.to_wire())  # None only when a file to write to is given
        if len(wire) > MAX_RDATA_OCTETS:
            raise place.error(f"the record data take {len(wire)} octets, allowed are {MAX_RDATA_OCTETS}")
        owner = WireName(self._owner.to_digestable())
        return Record(owner, int(rdtype), ttl_s, wire, rdata.to_digestable(), place)

    def _absolute_owner(self, token: dns.tokenizer.Token, place: Place) -> dns.name.Name:
        name = self._tokens.as_name(token, self._origin)
        if not name.is_absolute():
            raise place.error(f"the name {token.value!r} is relative and no origin is known; give one or write $ORIGIN")
        return name

    def _ttl_class_type(self, place: Place) -> tuple[int | None, dns.rdatatype.RdataType]:
        """Read `[TTL] [class] type` or `[class] [TTL] type` (RFC 1035 section 5.1)."""
        ttl_s: int | None = None
        class_seen = False
        while True:
            token = self._tokens.get()
            if not token.is_identifier():
                found = quote_line(self._text, place.line)
                raise place.error(f"found no record type in {found}, allowed is [TTL] [IN] TYPE DATA")
            text = token.value
            if ttl_s is None and text[0].isdigit():
                ttl_s = self._ttl.last_s = _stated_ttl(text, place)
            elif not class_seen and (rdclass := _class(text)) is not None:
                class_seen = True
                if rdclass != dns.rdataclass.IN:
                    raise place.error(f"found the class {text}, allowed is IN")
            else:
                return ttl_s, _type(text, place)

    def _rdata(self, rdtype: dns.rdatatype.RdataType, place: Place) -> dns.rdata.Rdata:
        try:
            rare = read_data(rdtype, self._tokens, self._origin)
            if rare is not None:
                return dns.rdata.GenericRdata(dns.rdataclass.IN, rdtype, rare)
            rdata = dns.rdata.from_text(
                dns.rdataclass.IN, rdtype, self._tokens, self._origin, relativize=False, idna_codec=_ASCII_ONLY
            )
        except dns.exception.DNSException as error:
            found = f"{quote_line(self._text, place.line)} ({reason(error)})"
            raise place.error(f"found {found}, allowed is {data_form(rdtype)}") from error
        if isinstance(rdata, SOA):
            self._ttl.soa_minimum_s = min(rdata.minimum, TTL_MAX_S)
        return rdata


def _stated_ttl(text: str, place: Place) -> int:
    try:
        ttl_s = dns.ttl.from_text(text)
    except dns.ttl.BadTTL as error:
        raise place.error(f"found the TTL {text!r}, allowed are 0 to {TTL_MAX_S} seconds, or such as 1h30m") from error
    if ttl_s > TTL_MAX_S:
        raise place.error(f"found the TTL {text}, allowed are 0 to {TTL_MAX_S} seconds (RFC 2181 section 8)")
    return ttl_s


def _class(text: str) -> dns.rdataclass.RdataClass | None:
    try:
        return dns.rdataclass.from_text(text)
    except (dns.rdataclass.UnknownRdataclass, ValueError):
        return None


def _type(text: str, place: Place) -> dns.rdatatype.RdataType:
    if (number := type_number(text)) is not None:
        return dns.rdatatype.RdataType.make(number)
    try:
        rdtype = dns.rdatatype.from_text(text)
    except (dns.rdatatype.UnknownRdatatype, ValueError) as error:
        allowed = "a type mnemonic such as A or TXT, or TYPE0 to TYPE65535 (RFC 3597)"
        raise place.error(f"found the record type {text!r}, allowed is {allowed}") from error
    if rdtype == 0 or dns.rdatatype.is_metatype(rdtype):
        raise place.error(f"found the type {text}, which stands only in queries and messages, never in a zone")
    return rdtype
