"""Replies for people: everything that came back, the data alone, or what two servers say differently.

Owns words and order. Never asks anybody.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

import dns.flags
import dns.message
import dns.rcode
import dns.rrset

from cli.dns.exchange import Exchange

_COMPARED_FLAGS = dns.flags.AA | dns.flags.TC


def full(exchange: Exchange) -> str:
    """Return all of a reply in the form of master files, with what is no record as comments."""
    reply = exchange.reply
    flags = dns.flags.to_text(reply.flags).lower()
    lines = [f";; {dns.rcode.to_text(reply.rcode())}, flags: {flags}, id: {reply.id}"]
    if reply.edns >= 0:
        edns_flags = dns.flags.edns_to_text(reply.ednsflags).lower()
        lines.append(f";; EDNS: version {reply.edns}, flags: {edns_flags or 'none'}, payload: {reply.payload} octets")
        lines += (f";;   {option.to_text()}" for option in reply.options)
    for title, section in _sections(reply):
        if section:
            lines += ["", f";; {title}", *(rrset.to_text() for rrset in section)]
    size = len(reply.wire or b"")
    took = f"{exchange.took_s * 1000:.1f} ms"
    return "\n".join([*lines, "", f";; {size} octets from {exchange.server} over {exchange.carrier.upper()} in {took}"])


def short(exchange: Exchange) -> str:
    """Return the data of the answer, a line each."""
    return "\n".join(rdata.to_text() for rrset in exchange.reply.answer for rdata in rrset)


def differences(ours: Exchange, theirs: Exchange, *, ttls: bool) -> list[str]:
    """Return what two replies say differently, as lines of a unified difference; none when they say the same.

    Compared are RCODE, AA, TC and the records of all sections, in any order.
    """
    before, after = (list(_content(each.reply, ttls=ttls)) for each in (ours, theirs))
    found = difflib.unified_diff(before, after, str(ours.server), str(theirs.server), lineterm="", n=0)
    return [line for line in found if not line.startswith("@@")]


def _content(reply: dns.message.Message, *, ttls: bool) -> Iterator[str]:
    flags = dns.flags.to_text(reply.flags & _COMPARED_FLAGS).lower()
    yield f"status {dns.rcode.to_text(reply.rcode())}, flags: {flags or 'none'}"
    for title, section in _sections(reply)[1:]:
        records = (line for rrset in section if len(rrset) for line in _records(rrset, ttls=ttls))
        yield from sorted(f"{title.lower()}: {line}" for line in records)


def _records(rrset: dns.rrset.RRset, *, ttls: bool) -> Iterator[str]:
    shown = dns.rrset.from_rdata_list(rrset.name.canonicalize(), rrset.ttl if ttls else 0, list(rrset))
    yield from shown.to_text().splitlines()


def _sections(reply: dns.message.Message) -> list[tuple[str, list[dns.rrset.RRset]]]:
    titles = ("QUESTION", "ANSWER", "AUTHORITY", "ADDITIONAL")
    return list(zip(titles, reply.sections, strict=True))
