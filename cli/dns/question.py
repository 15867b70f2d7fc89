"""Questions as people write them: `www.example.com MX @192.0.2.1`, in any order, as other DNS tools take them.

Owns the reading of words and of files of questions. Never sends anything.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dns.exception
import dns.name
import dns.rdataclass
import dns.rdatatype
import dns.reversename


@dataclass(frozen=True, slots=True)
class Question:
    """A name, a type and a class."""

    name: dns.name.Name
    rdtype: dns.rdatatype.RdataType = dns.rdatatype.A
    rdclass: dns.rdataclass.RdataClass = dns.rdataclass.IN

    def __str__(self) -> str:
        kind = dns.rdatatype.to_text(self.rdtype)
        return f"{self.name} {kind}" if self.rdclass == dns.rdataclass.IN else f"{self.name} {self._class} {kind}"

    @property
    def _class(self) -> str:
        return dns.rdataclass.to_text(self.rdclass)


class QuestionError(ValueError):
    """Words that are no question; the message says which and what is allowed."""


def parse_words(words: Sequence[str]) -> tuple[Question, str | None]:
    """Return the question that words make, and the server behind an @; raises QuestionError."""
    server = None
    names: list[str] = []
    rdtype: dns.rdatatype.RdataType | None = None
    rdclass: dns.rdataclass.RdataClass | None = None
    for word in words:
        if word.startswith("@"):
            server = word[1:]
        elif names and rdclass is None and (found_class := _class(word)) is not None:
            rdclass = found_class
        elif names and rdtype is None:
            rdtype = _type(word)
        else:
            names.append(word)
    if len(names) != 1:
        raise QuestionError(f"found {' '.join(words)!r}, allowed is NAME [CLASS] [TYPE] [@SERVER]")
    name, default = _name(names[0])
    return Question(name, rdtype or default, rdclass or dns.rdataclass.IN), server


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file, one a line, NAME [CLASS] [TYPE]; raises QuestionError, which names the line, and OSError."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition(";")[0].partition("#")[0].split()
        if not words:
            continue
        try:
            found.append(parse_words(words)[0])
        except QuestionError as error:
            raise QuestionError(f"{path}:{number}: {error}") from error
    return found


def _name(word: str) -> tuple[dns.name.Name, dns.rdatatype.RdataType]:
    """Return a name with the type that is asked for when none is given; an address stands for its name in the reverse tree."""
    try:
        ipaddress.ip_address(word)
    except ValueError:
        pass
    else:
        return dns.reversename.from_address(word), dns.rdatatype.PTR
    try:
        return dns.name.from_text(word), dns.rdatatype.A
    except dns.exception.DNSException as error:
        raise QuestionError(f"found the name {word!r} ({error}), allowed is a domain name or an address") from error


def _type(word: str) -> dns.rdatatype.RdataType:
    try:
        return dns.rdatatype.from_text(word)
    except (dns.rdatatype.UnknownRdatatype, ValueError) as error:
        raise QuestionError(f"found the type {word!r}, allowed are names such as MX and TYPE65280") from error


def _class(word: str) -> dns.rdataclass.RdataClass | None:
    """Return a class, None for other words: ANY is a type here."""
    return {"IN": dns.rdataclass.IN, "CH": dns.rdataclass.CH, "CHAOS": dns.rdataclass.CH}.get(word.upper())
