"""What one authoritative server says to one question, read from its message.

Pure. Owns the difference between "no", "something else", "not mine to say" and "no answer". Values are canonical texts, so that two
of them are equal exactly when the records are: addresses parsed, names in lowercase, strings of TXT joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_address
from typing import Final

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

CHAIN_LIMIT: Final = 16
RECORD_LIMIT: Final = 512
"""So many records of one type at one name are read; whoever has more is not judged by a part of them."""
NAME_SERVER_LIMIT: Final = 64
"""So many name servers of the zone itself: what each of many servers says of them is kept, and compared."""
_PLAIN: Final = {code: chr(code) for code in range(0x20, 0x7F)} | {0x5C: "\\\\"}
_ADDRESSES: Final = frozenset({dns.rdatatype.A, dns.rdatatype.AAAA})
_LAME: Final = frozenset({dns.rcode.REFUSED, dns.rcode.NOTAUTH})


class Outcome(Enum):
    """The kinds of answers."""

    DATA = "data"  # records of the asked type at the asked name
    NO_DATA = "no data"  # the name is there, the type is not
    NO_NAME = "no name"  # NXDOMAIN
    ALIAS = "alias"  # a CNAME at the asked name, for another type
    REFERRAL = "referral"  # the name is delegated away below the apex
    LAME = "lame"  # the server does not speak for the zone
    FAILED = "failed"  # SERVFAIL and the like, or a message that cannot be read
    SILENT = "silent"  # nothing came in time
    UNROUTABLE = "unroutable"  # this host has no way to the address
    UNASKED = "unasked"  # there is such a server, and nobody asked it

    @property
    def is_answer(self) -> bool:
        """True when the server has spoken for the zone."""
        return self in _ANSWERS


_ANSWERS: Final = frozenset({Outcome.DATA, Outcome.NO_DATA, Outcome.NO_NAME, Outcome.ALIAS, Outcome.REFERRAL})


@dataclass(frozen=True, slots=True)
class Question:
    """A name, absolute and in lowercase without its last dot, and the number of a type."""

    name: str
    type: int

    def __str__(self) -> str:
        return f"{self.name} {dns.rdatatype.to_text(dns.rdatatype.RdataType(self.type))}"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `rcode` is its RCODE, or the outcome's own word when there was no message.

    `values` are the records of the asked type, for ALIAS those at the end of the chain as far as the server told it, and `chain` the
    names along it. For REFERRAL `cut` is the delegated name, `values` are its name servers and `glue` the addresses that the server gives
    with them for the asked name (RFC 9471). `ttl_s` is the largest TTL among them.
    """

    outcome: Outcome
    rcode: str
    values: frozenset[str] = frozenset()
    ttl_s: int | None = None
    chain: tuple[str, ...] = ()
    cut: str | None = None
    glue: frozenset[str] = frozenset()

    @property
    def word(self) -> str:
        """The RCODE, unless it stands for an answer that was none."""
        return self.outcome.name if self.rcode == "NOERROR" and not self.outcome.is_answer else self.rcode


SILENCE: Final = Answer(Outcome.SILENT, "TIMEOUT")
OVERDUE: Final = Answer(Outcome.SILENT, "OVERDUE")
"""The round took too long: whether the server would have answered is not known."""
NO_ROUTE: Final = Answer(Outcome.UNROUTABLE, "UNREACHABLE")
GARBAGE: Final = Answer(Outcome.FAILED, "MALFORMED")
NOT_AUTHORITATIVE: Final = Answer(Outcome.LAME, "NOERROR")
TOO_MANY: Final = Answer(Outcome.FAILED, "TOOMANY")
NO_ADDRESS: Final = Answer(Outcome.UNASKED, "NOADDRESS")
NOT_ASKED: Final = Answer(Outcome.UNASKED, "NOTASKED")


def read_answer(message: dns.message.Message, question: Question, zone: str) -> Answer:
    """Read the message of a server that ought to be authoritative for `zone`."""
    code = message.rcode()
    rcode = dns.rcode.to_text(code)
    if code in _LAME:
        return Answer(Outcome.LAME, rcode)
    if code not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
        return Answer(Outcome.FAILED, rcode)
    if not message.flags & dns.flags.AA:
        return _read_referral(message, question, zone, rcode)
    chain, ttl_s = _follow(message, question)
    end = chain[-1] if chain else question.name
    found = _find(message.answer, end, question.type)
    if found is not None:
        apex = question.type == dns.rdatatype.NS and question.name == zone
        if len(found) > (NAME_SERVER_LIMIT if apex else RECORD_LIMIT):
            return TOO_MANY
        ttl_s = max(ttl_s or 0, found.ttl)
    values = frozenset(text_of(each) for each in found or ())
    if chain:
        return Answer(Outcome.ALIAS, rcode, values, ttl_s, chain)
    if values:
        return Answer(Outcome.DATA, rcode, values, ttl_s)
    return Answer(Outcome.NO_NAME if code == dns.rcode.NXDOMAIN else Outcome.NO_DATA, rcode)


def text_of(rdata: dns.rdata.Rdata) -> str:
    """Return the canonical text of a record's data."""
    match rdata.rdtype:
        case dns.rdatatype.A | dns.rdatatype.AAAA:
            # As claims are written: a resolver library may have mapped and compatible IPv6 addresses end in dotted form.
            return str(ip_address(getattr(rdata, "address", "")))
        case dns.rdatatype.TXT:
            return text_of_octets(b"".join(getattr(rdata, "strings", ())))
        case dns.rdatatype.CAA:
            value = text_of_octets(getattr(rdata, "value", b""))
            tag = text_of_octets(getattr(rdata, "tag", b"")).lower()
            return f'{getattr(rdata, "flags", 0)} {tag} "{value}"'
        case dns.rdatatype.CNAME | dns.rdatatype.NS | dns.rdatatype.PTR:
            return _name(rdata.to_text())
        case dns.rdatatype.MX:
            preference, _, exchange = rdata.to_text().partition(" ")
            return f"{preference} {_name(exchange)}"
        case _:
            return rdata.to_text()


def text_of_octets(octets: bytes) -> str:
    """Return octets as one printable line, each text for one value only: what is not printable ASCII, and the backslash, is escaped.

    Answers are somebody else's, and their text goes to terminals and into zone files (escapes as in RFC 1035 section 5.1).
    """
    return "".join(_PLAIN.get(each) or f"\\{each:03}" for each in octets)


def name_of(name: dns.name.Name) -> str:
    """Return a name as questions spell it; the root is the empty text."""
    return name.to_text(omit_final_dot=True).lower().removesuffix(".")


def is_within(name: str, zone: str) -> bool:
    """Say whether a name is the zone's apex or lies below it; a dot that is escaped is part of a label."""
    if not zone or name == zone:
        return True
    below = name.removesuffix(f".{zone}")
    return below != name and (len(below) - len(below.rstrip("\\"))) % 2 == 0


def _name(text: str) -> str:
    lowered = text.lower()
    return lowered if lowered == "." else lowered.removesuffix(".")


def _follow(message: dns.message.Message, question: Question) -> tuple[tuple[str, ...], int | None]:
    """Return the names that CNAMEs lead over, and the largest TTL of those; none when CNAME is what was asked for."""
    chain: list[str] = []
    ttl_s: int | None = None
    name = question.name
    aliases = {name_of(each.name): each for each in reversed(message.answer) if _is_alias(each)}
    while question.type != dns.rdatatype.CNAME and len(chain) < CHAIN_LIMIT:
        alias = aliases.get(name)
        if alias is None:
            break
        name = _name(alias[0].to_text())
        ttl_s = max(ttl_s or 0, alias.ttl)
        chain.append(name)
    return tuple(chain), ttl_s


def _is_alias(rrset: dns.rrset.RRset) -> bool:
    return rrset.rdtype == dns.rdatatype.CNAME and rrset.rdclass == dns.rdataclass.IN


def _read_referral(message: dns.message.Message, question: Question, zone: str, rcode: str) -> Answer:
    """A server of the zone refers to name servers of names below the apex only; any other referral means that it is not one."""
    for rrset in message.authority:
        owner = name_of(rrset.name)
        below = rrset.rdtype == dns.rdatatype.NS and owner != zone and is_within(owner, zone)
        if below and is_within(question.name, owner):
            if len(rrset) > RECORD_LIMIT:
                return TOO_MANY
            values = frozenset(text_of(each) for each in rrset)
            at_the_cut = owner == question.name and question.type == dns.rdatatype.NS
            outcome = Outcome.DATA if at_the_cut else Outcome.REFERRAL
            glue = _find(message.additional, question.name, question.type) if question.type in _ADDRESSES else None
            return Answer(outcome, rcode, values, rrset.ttl, cut=owner, glue=frozenset(map(text_of, glue or ())))
    return Answer(Outcome.LAME, rcode)


def _find(section: list[dns.rrset.RRset], name: str, rdtype: int) -> dns.rrset.RRset | None:
    for rrset in section:
        if rrset.rdtype == rdtype and rrset.rdclass == dns.rdataclass.IN and name_of(rrset.name) == name:
            return rrset
    return None
