"""Finished answers: the RRsets of a reply as octets, names compressed against the question and one another.

Owns compression (RFC 1035 section 4.1.4) and the stored form of offsets. Never decides what a reply contains.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Final

from server import rdtype
from server.zone.lookup import Reply, negative_soa
from server.zone.table import AUTHORITATIVE, Answer, Trim, heads
from zonemodel.name import WireName
from zonemodel.rrset import RRset

_HEADER: Final = 12
_QUESTION_TAIL: Final = 4
_POINTER: Final = 0xC000
_OWNER_POINTER: Final = b"\xc0\x0c"
_REACH: Final = 0x3FFF - 255
"""The last place that a pointer can name, less the longest question name that may stand before it."""

_MOST_OCTETS: Final = 65535
"""What no message is longer than: records behind are not encoded, since an answer that holds so many is never sent whole."""

_MOST_HOPS: Final = 8
"""Pointers that one name may lead through: parsers give up on long ways, as RFC 9267 section 2 has them do."""

NAMES_AFTER: Final = {
    rdtype.NS: (0, 1),
    rdtype.MD: (0, 1),
    rdtype.MF: (0, 1),
    rdtype.CNAME: (0, 1),
    rdtype.SOA: (0, 2),
    rdtype.MB: (0, 1),
    rdtype.MG: (0, 1),
    rdtype.MR: (0, 1),
    rdtype.PTR: (0, 1),
    rdtype.MINFO: (0, 2),
    rdtype.MX: (2, 1),
}
"""By type: octets before the first name and how many names follow it. Only these may be compressed (RFC 3597 section 4)."""


class Encoder:
    """Appends records after a question whose name is `known` or, where only a suffix of it is certain, ends in `known`.

    With `exact`, the whole question name is `known` and offsets are final; otherwise `step` tells which ones move with it.
    Records that may stand at any distance from the question are not `adjacent`: names are compressed against the question only.
    It ends with the record that takes it past `most_octets`.
    """

    def __init__(self, known: WireName, *, exact: bool, adjacent: bool = True, most_octets: int = _MOST_OCTETS) -> None:
        self.most_octets = most_octets
        self.body = bytearray()
        self.step_positions: list[int] = []
        self._exact = exact
        self._adjacent = adjacent
        self._start = _HEADER + _QUESTION_TAIL + (len(known) if exact else 0)
        self._offsets: dict[bytes, int] = {}
        self._hops: dict[bytes, int] = {}
        end = self._start - _QUESTION_TAIL
        name: bytes = known
        while len(name) > 1:
            self._offsets[name] = end - len(name)
            name = name[name[0] + 1 :]

    def add(self, rrset: RRset, asked: bytes) -> int:
        """Append a set and return its number of records; `asked` is the owner that stands for the question name."""
        head = rrset.rdtype.to_bytes(2, "big") + b"\x00\x01" + rrset.ttl_s.to_bytes(4, "big")
        layout = NAMES_AFTER.get(rrset.rdtype)
        body, most_octets, owner, count = self.body, self.most_octets, b"", 0
        if rrset.owner == asked:
            owner = _OWNER_POINTER
        for rdata in rrset.rdatas:
            if len(body) > most_octets:
                break
            if owner:
                body += owner
            else:
                start = len(body)
                self._name(rrset.owner)
                if self._exact and len(body) - start == len(_OWNER_POINTER):
                    owner = bytes(body[start:])  # the whole name stands before, and will do so for the rest of the set
            if layout is None:
                body += head + len(rdata).to_bytes(2, "big") + rdata
            else:
                body += head
                self._rdata(rdata, *layout)
            count += 1
        return count

    def add_all(self, rrsets: Iterable[RRset], asked: bytes) -> int:
        """Append sets and return their number of records."""
        return sum(self.add(rrset, asked) for rrset in rrsets)

    @property
    def may_fit(self) -> bool:
        """Whether a message may hold what was appended."""
        return len(self.body) <= self.most_octets

    @property
    def step(self) -> int:
        """The addend that moves all moving offsets by one octet."""
        last = len(self.body)
        return sum(1 << 8 * (last - position - 2) for position in self.step_positions)

    def _rdata(self, rdata: bytes, before: int, names: int) -> None:
        length_at = len(self.body)
        self.body += b"\0\0" + rdata[:before]
        position = before
        for _ in range(names):
            end = _name_end(rdata, position)
            self._name(rdata[position:end])
            position = end
        self.body += rdata[position:]
        self.body[length_at : length_at + 2] = (len(self.body) - length_at - 2).to_bytes(2, "big")

    def _name(self, name: bytes) -> None:
        """Append a name, ending it in a pointer where a suffix of it stands in the message already."""
        fresh: list[bytes] = []
        while len(name) > 1:
            key = name.lower()
            offset = self._offsets.get(key)
            if offset is not None:
                if not self._exact and self.may_fit:
                    self.step_positions.append(len(self.body))
                self.body += ((_POINTER + offset) & 0xFFFF).to_bytes(2, "big")
                if fresh:
                    self._follow(fresh, self._hops.get(key, 0) + 1)
                return
            here = self._start + len(self.body)
            if self._adjacent and here <= _REACH:
                self._offsets[key] = here
                fresh.append(key)
            label = name[0] + 1
            self.body += name[:label]
            name = name[label:]
        self.body.append(0)

    def _follow(self, names: list[bytes], hops: int) -> None:
        """Note that these names end in so many pointers, one after the other; at the bound nothing points to them any more."""
        for name in names:
            if hops < _MOST_HOPS:
                self._hops[name] = hops
            else:
                del self._offsets[name]


def encode_reply(
    reply: Reply, asked: WireName, known: WireName, *, exact: bool, most_octets: int = _MOST_OCTETS
) -> Answer:
    """Return the finished form of a reply; `asked` is the question name as the reply's RRsets spell it.

    A message may take up to `most_octets`: what is longer is never sent whole, and not encoded to its end.
    """
    encoder = Encoder(known, exact=exact, most_octets=most_octets)
    answers = encoder.add_all(reply.answer, asked)
    authorities = encoder.add_all(reply.authority, asked) + reply.denial
    additionals = encoder.add_all(reply.glue, asked)
    flags = reply.rcode | (AUTHORITATIVE if reply.authoritative else 0)
    trims = []
    for rrset in takewhile(lambda _: encoder.may_fit, reply.extra):
        trims.append(Trim(len(encoder.body), heads(flags, answers, authorities, additionals)))
        additionals += encoder.add(rrset, asked)
    body, whole = bytes(encoder.body), heads(flags, answers, authorities, additionals)
    return Answer(whole, body, encoder.step, reply.denial, tuple(reversed(trims)))


def encode_plain(rrset: RRset, known: WireName, exact: bool) -> Answer:
    """Return the finished positive answer that consists of one set, owned by the question name."""
    count = len(rrset.rdatas)
    whole = heads(AUTHORITATIVE, count, 0, 0)
    if rrset.rdtype in NAMES_AFTER:
        encoder = Encoder(known, exact=exact)
        encoder.add(rrset, rrset.owner)
        return Answer(whole, bytes(encoder.body), encoder.step)
    head = _OWNER_POINTER + rrset.rdtype.to_bytes(2, "big") + b"\x00\x01" + rrset.ttl_s.to_bytes(4, "big")
    return Answer(whole, b"".join([head + len(rdata).to_bytes(2, "big") + rdata for rdata in rrset.rdatas]))


def encode_soa(soa: RRset) -> Answer:
    """Return the record that denials carry, for any distance from the question."""
    encoder = Encoder(soa.owner, exact=False, adjacent=False)
    encoder.add(negative_soa(soa), b"")
    return Answer(heads(0, 0, 0, 0), bytes(encoder.body), encoder.step)


def _name_end(rdata: bytes, position: int) -> int:
    while length := rdata[position]:
        position += length + 1
    return position + 1
