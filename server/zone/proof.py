"""Signatures and denials of a zone that was signed before it came here (RFC 4035 section 3.1, RFC 5155 section 7.2).

Owns which RRSIG, NSEC and NSEC3 records go with a reply. Never signs, checks or makes any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from server import rdtype
from server.zone.index import Sets, ZoneIndex, wildcard_of
from server.zone.lookup import NXDOMAIN, Reply, negative_soa
from server.zone.nsec import NsecChain
from server.zone.nsec3 import Nsec3Chain
from zonemodel.name import WireName
from zonemodel.rrset import RRset


class Chain(Protocol):
    """The records that prove what a zone does not hold, one chain of them; each method yields the sets of a proof."""

    def no_name(self, name: WireName) -> Iterator[RRset]:
        """Neither the name exists nor a wildcard that covers it."""

    def no_type(self, name: WireName) -> Iterator[RRset]:
        """The name exists, or may in an unsigned child zone, without the type."""

    def no_type_at_wildcard(self, name: WireName) -> Iterator[RRset]:
        """The name does not exist, and the wildcard that covers it lacks the type."""

    def no_closer_name(self, name: WireName) -> Iterator[RRset]:
        """The name does not exist, so that it was right to use the wildcard."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """What a signed zone adds to replies."""

    index: ZoneIndex
    chain: Chain

    @classmethod
    def of(cls, index: ZoneIndex) -> Proofs | None:
        """Return the proofs of a zone, None when its SOA is not signed."""
        if rdtype.RRSIG not in index.at(index.origin):
            return None
        hashed = Nsec3Chain.of(index)
        return cls(index, NsecChain.of(index) if hashed is None else hashed)

    def add_to(self, reply: Reply) -> None:
        """Put signatures and proofs into a reply; the SOA of a denial becomes a record like others."""
        proofs = list(self._proofs(reply))
        if reply.authority and (delegation := self.index.at(reply.authority[0].owner).get(rdtype.DS)) is not None:
            reply.authority.append(delegation)
        if reply.denial:
            reply.denial = False
            reply.authority.append(negative_soa(self.index.at(self.index.origin)[rdtype.SOA]))
        for proof in proofs:
            if proof not in reply.authority:
                reply.authority.append(proof)
        reply.answer = list(self._signed(reply.answer))
        reply.authority = list(self._signed(reply.authority))

    def _proofs(self, reply: Reply) -> Iterator[RRset]:
        index, last = self.index, reply.chain[-1]
        for name in reply.chain[:-1]:
            if self._is_wildcard_answer(name):
                yield from self.chain.no_closer_name(name)
        if reply.authority:  # a referral
            cut = reply.authority[0].owner
            if rdtype.DS not in index.at(cut):
                yield from self.chain.no_type(cut)
        elif reply.rcode == NXDOMAIN:
            yield from self.chain.no_name(last)
        elif self._is_wildcard_answer(last):
            yield from (self.chain.no_type_at_wildcard(last) if reply.denial else self.chain.no_closer_name(last))
        elif reply.denial:
            yield from self.chain.no_type(last)

    def _is_wildcard_answer(self, name: WireName) -> bool:
        index = self.index
        if index.exists(name) or index.barrier_above(name) is not None:
            return False
        return index.exists(wildcard_of(index.closest_encloser(name)))

    def _source(self, rrset: RRset) -> Sets:
        """Return what stands where a set comes from: at its owner, which NSEC3 records have without making it a name, or at a wildcard."""
        sets = self.index.at(rrset.owner)
        if rrset.rdtype in sets or not self._is_wildcard_answer(rrset.owner):
            return sets
        return self.index.at(wildcard_of(self.index.closest_encloser(rrset.owner)))

    def _signed(self, rrsets: list[RRset]) -> Iterator[RRset]:
        """Yield each set with its signatures behind it; sets that have none, such as those of a child zone, alone.

        A reply to ANY or RRSIG has them already.
        """
        signed = {rrset.owner for rrset in rrsets if rrset.rdtype == rdtype.RRSIG}
        for rrset in rrsets:
            yield rrset
            if rrset.owner in signed:
                continue
            signatures = self._source(rrset).get(rdtype.RRSIG)
            if signatures is None:
                continue
            covered = rrset.rdtype.to_bytes(2, "big")
            found = tuple(rdata for rdata in signatures.rdatas if rdata[:2] == covered)
            if found:
                yield RRset(rrset.owner, rdtype.RRSIG, rrset.ttl_s, found)
