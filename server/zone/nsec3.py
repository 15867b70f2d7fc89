"""Denial of existence by NSEC3 records (RFC 5155 section 7.2).

Owns hashing and the chain in hash order. Never makes a record.
"""

from __future__ import annotations

import hashlib
from base64 import b32hexdecode
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from server import rdtype
from server.zone.index import ZoneIndex, wildcard_of
from zonemodel.name import WireName
from zonemodel.rrset import RRset

_SHA1_AND_NO_FLAGS: Final = b"\x01\x00"
"""Another flag in NSEC3PARAM names no chain that may be used (RFC 5155 section 4.1.2)."""

_SALT_LENGTH_AT: Final = 4


@dataclass(frozen=True, slots=True)
class Nsec3Chain:
    """NSEC3 sets of one parameter set by the order of their hashes."""

    index: ZoneIndex
    iterations: int
    salt: bytes
    hashes: tuple[bytes, ...]
    sets: tuple[RRset, ...]

    @classmethod
    def of(cls, index: ZoneIndex) -> Nsec3Chain | None:
        """Return the longest chain that an NSEC3PARAM record at the apex names, None without one that we can hash for.

        A zone that goes over to other parameters holds records of both, and those of a chain that is not complete are named by none
        (RFC 5155 sections 4.1.2 and 7.1).
        """
        named = [rdata for rdata in _parameters(index) if rdata[:2] == _SHA1_AND_NO_FLAGS]
        if not named:
            return None
        found: dict[bytes, list[tuple[bytes, RRset]]] = {_hashing(rdata): [] for rdata in named}
        for owner, sets in index.sets.items():
            if rdtype.NSEC3 in sets and (digest := _digest_in(owner)) is not None:
                records = sets[rdtype.NSEC3]
                chain = found.get(_hashing(records.rdatas[0]))
                if chain is not None:
                    chain.append((digest, records))
        hashing, longest = max(found.items(), key=lambda each: len(each[1]))
        longest.sort(key=lambda pair: pair[0])
        iterations, salt = int.from_bytes(hashing[1:3], "big"), hashing[4:]
        return cls(
            index, iterations, salt, tuple(digest for digest, _ in longest), tuple(rrset for _, rrset in longest)
        )

    def no_name(self, name: WireName) -> Iterator[RRset]:
        encloser, proof = self._closest_encloser(name)
        yield from proof
        yield from self._covering(wildcard_of(encloser))

    def no_type(self, name: WireName) -> Iterator[RRset]:
        if (exact := self._matching(name)) is not None:
            yield exact
        else:  # an unsigned delegation that opted out (RFC 5155 section 7.2.4)
            yield from self._closest_encloser(name)[1]

    def no_type_at_wildcard(self, name: WireName) -> Iterator[RRset]:
        encloser, proof = self._closest_encloser(name)
        yield from proof
        if (exact := self._matching(wildcard_of(encloser))) is not None:
            yield exact

    def no_closer_name(self, name: WireName) -> Iterator[RRset]:
        next_closer = name
        for above in self.index.ancestors(name):
            if self.index.exists(above):
                break
            next_closer = above
        yield from self._covering(next_closer)

    def _closest_encloser(self, name: WireName) -> tuple[WireName, list[RRset]]:
        """Return the closest name above that has a record of its own, and the proof of it (RFC 5155 section 7.2.1)."""
        next_closer = name
        for above in self.index.ancestors(name):
            if self.index.exists(above) and (exact := self._matching(above)) is not None:
                return above, [exact, *self._covering(next_closer)]
            next_closer = above
        return self.index.origin, []

    def _matching(self, name: WireName) -> RRset | None:
        place = bisect_right(self.hashes, digest := self._hash(name))
        return self.sets[place - 1] if place and self.hashes[place - 1] == digest else None

    def _covering(self, name: WireName) -> Iterator[RRset]:
        """Yield the set whose interval holds the name's hash; the last one reaches round to the first."""
        if self.sets:
            yield self.sets[bisect_right(self.hashes, self._hash(name)) - 1]

    def _hash(self, name: WireName) -> bytes:
        digest = hashlib.sha1(name + self.salt, usedforsecurity=False).digest()
        for _ in range(self.iterations):
            digest = hashlib.sha1(digest + self.salt, usedforsecurity=False).digest()
        return digest


def _parameters(index: ZoneIndex) -> tuple[bytes, ...]:
    found = index.at(index.origin).get(rdtype.NSEC3PARAM)
    return () if found is None else found.rdatas


def _hashing(rdata: bytes) -> bytes:
    """Return what of NSEC3 and NSEC3PARAM data says how names are hashed: algorithm, iterations, and the salt with its length."""
    end = _SALT_LENGTH_AT + 1 + rdata[_SALT_LENGTH_AT]
    return rdata[:1] + rdata[2:end]


def _digest_in(owner: WireName) -> bytes | None:
    """Return the hash that an NSEC3 owner's first label spells, None when it spells none."""
    try:
        return b32hexdecode(owner[1 : owner[0] + 1], casefold=True)
    except ValueError:
        return None
