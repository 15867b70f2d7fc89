"""A finished answer put behind the question that it answers.

Owns the reply's layout and what is left out when space is short: optional records first, whole sets only, then everything with
TC set (RFC 2181 section 9). Never chooses an answer.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from server.zone.table import TRUNCATED, Answer, Heads, heads

UDP_PLAIN_LIMIT_BYTES: Final = 512
TCP_LIMIT_BYTES: Final = 65535

RD: Final = 1
EDNS: Final = 2
"""Variants of a reply's header, as `table.Heads` counts them."""

_NAME_START: Final = 12
_AROUND_NAME: Final = 16
"""Octets of header and question beside the question name."""


def opt_record(payload_bytes: int, *, dnssec_ok: bool = False, extended_rcode: int = 0, options: bytes = b"") -> bytes:
    """Return our OPT record, EDNS version 0 (RFC 6891 section 6.1.2)."""
    ttl = bytes((extended_rcode, 0)) + (b"\x80\x00" if dnssec_ok else b"\x00\x00")
    head = b"\x00" + (41).to_bytes(2, "big") + payload_bytes.to_bytes(2, "big") + ttl
    return head + len(options).to_bytes(2, "big") + options


def limit_for(payload_bytes: int | None, most_bytes: int, *, over_tcp: bool) -> int:
    """Return how long a reply may be, for the payload that the query's OPT record states, None without one.

    RFC 6891 section 6.2.3: a stated payload below 512 octets counts as 512.
    """
    if over_tcp:
        return TCP_LIMIT_BYTES
    if payload_bytes is None:
        return UDP_PLAIN_LIMIT_BYTES
    return min(max(payload_bytes, UDP_PLAIN_LIMIT_BYTES), most_bytes)


def compose(packet: bytes, end: int, answer: Answer, soa: Answer, variant: int, opt: bytes, limit_bytes: int) -> bytes:
    """Return the reply to the query whose question ends at `end`; ID and question stay as they came.

    `soa` is the zone's negative SOA record, used when the answer asks for it; `opt` is empty without EDNS.
    """
    length = end - _AROUND_NAME
    body = answer.body_for(length) if answer.step else answer.body
    if answer.soa:
        body += soa.body_for(length)
    room = limit_bytes - end - len(opt)
    if len(body) <= room:
        return packet[:2] + answer.heads[variant] + packet[_NAME_START:end] + body + opt
    for trim in answer.trims:
        if trim.size <= room:
            return packet[:2] + trim.heads[variant] + packet[_NAME_START:end] + body[: trim.size] + opt
    return packet[:2] + _truncated(answer.heads)[variant] + packet[_NAME_START:end] + opt


@cache
def _truncated(whole: Heads) -> Heads:
    return heads(int.from_bytes(whole[0][:2], "big") | TRUNCATED, 0, 0, 0)
