"""Response rate limiting: how much of one kind goes to one network over UDP, where senders can pretend to be anybody.

Owns the counts of the running second and who is over. Never drops a reply itself.
"""

from __future__ import annotations

from collections.abc import Sized
from enum import Enum, IntEnum
from typing import Final

from server.config import RateLimit
from server.network import address_octets

_STRIDE: Final = 16
"""One reply of so many is counted, for so many, where the limit is high enough to bear the error."""

_LEAST_SAMPLES: Final = 100
"""How many counted replies make a limit, at least: below, every reply is counted."""


class Kind(IntEnum):
    """What a reply is; an attack is mostly of one kind, and the limit of one does not touch the others."""

    ANSWER = 0
    NODATA = 1
    REFERRAL = 2
    NXDOMAIN = 3
    ERROR = 4


class Verdict(Enum):
    """What becomes of a reply past the limit."""

    HOLD_BACK = "hold back"
    DROP = "drop"


Key = tuple[bytes, Kind]


class RateLimiter:
    """Counts replies by network and kind; `over` are those whose limit is reached in this second, nearly always none.

    Replies are counted one in `stride`, each for `stride`, so that counting costs little: whoever counts picks them at random.
    """

    def __init__(self, config: RateLimit) -> None:
        self._over: set[Key] = set()
        self.over: Sized = self._over
        self._dropped = 0
        self._held_back = 0
        self.stride = max(1, min(_STRIDE, config.responses_per_s // _LEAST_SAMPLES))
        self._config = config
        self._ipv4_bytes, self._ipv6_bytes = config.ipv4_prefix // 8, config.ipv6_prefix // 8
        self._counts: dict[Key, int] = {}
        self._refused = 0

    @property
    def dropped(self) -> int:
        """Replies past the limit that were not sent."""
        return self._dropped

    @property
    def held_back(self) -> int:
        """Replies past the limit that were replaced by short ones."""
        return self._held_back

    def tick(self) -> None:
        """Begin a new second."""
        self._counts = {}
        self._over.clear()

    def count(self, client: str, reply: bytes) -> None:
        """Count a reply that was picked."""
        if client in self._config.exempt:
            return
        key = self._key(client, reply)
        counted = self._counts[key] = self._counts.get(key, 0) + self.stride
        if counted > self._config.responses_per_s:
            self._over.add(key)

    def is_over(self, client: str, reply: bytes) -> bool:
        """Say whether replies of this kind to the client's network are past the limit."""
        return self._key(client, reply) in self._over and client not in self._config.exempt

    def verdict(self) -> Verdict:
        """Say what becomes of one more reply that is past the limit, and count it."""
        self._refused += 1
        if self._config.slip and self._refused % self._config.slip == 0:
            self._held_back += 1
            return Verdict.HOLD_BACK
        self._dropped += 1
        return Verdict.DROP

    def _key(self, client: str, reply: bytes) -> Key:
        address = address_octets(client)
        return address[: self._ipv4_bytes if len(address) == 4 else self._ipv6_bytes], kind_of(reply)


def kind_of(reply: bytes) -> Kind:
    """Return what a reply is, from its header."""
    rcode = reply[3] & 0xF
    if rcode == 0:
        if reply[6] or reply[7]:
            return Kind.ANSWER
        return Kind.NODATA if reply[2] & 0x04 else Kind.REFERRAL
    return Kind.NXDOMAIN if rcode == 3 else Kind.ERROR
