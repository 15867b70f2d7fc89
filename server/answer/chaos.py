"""What the server tells about itself: names of class CHAOS (RFC 4892 and custom).

Owns those names and who may ask. Never tells more than it is configured to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from server import rdtype
from server.network import LOOPBACK, Networks
from server.zone.table import AUTHORITATIVE, Answer, heads
from zonemodel.name import WireName, to_wire

CLASS_CHAOS: Final = 3
_VERSION_NAMES: Final = frozenset(map(to_wire, ("version.bind", "version.server")))
_IDENTITY_NAMES: Final = frozenset(map(to_wire, ("id.server", "hostname.bind")))
_LONGEST_TEXT_BYTES: Final = 255
_NOTHING: Final = Answer(heads(AUTHORITATIVE, 0, 0, 0), b"")


@dataclass(frozen=True, slots=True)
class Chaos:
    """`version` and `identity` are told to clients in `allow`; an empty one is told to nobody."""

    version: str = "dns-api"
    identity: str = ""
    allow: Networks = field(default=LOOPBACK)

    def __post_init__(self) -> None:
        for text in (self.version, self.identity):
            if (size := len(text.encode())) > _LONGEST_TEXT_BYTES:
                raise ValueError(f"{text[:32]!r}... takes {size} octets, allowed are {_LONGEST_TEXT_BYTES}")

    def answer(self, name: WireName, qtype: int, client: str) -> Answer | None:
        """Return the answer for a name, lowercase, of class CHAOS; None for names it does not have and clients it does not tell."""
        text = self._text(name)
        if not text or client not in self.allow:
            return None
        if qtype not in {rdtype.TXT, rdtype.ANY}:
            return _NOTHING
        data = text.encode()
        record = rdtype.TXT.to_bytes(2, "big") + CLASS_CHAOS.to_bytes(2, "big") + bytes(4)
        body = b"\xc0\x0c" + record + (len(data) + 1).to_bytes(2, "big") + bytes((len(data),)) + data
        return Answer(heads(AUTHORITATIVE, 1, 0, 0), body)

    def _text(self, name: WireName) -> str:
        if name in _VERSION_NAMES:
            return self.version
        return self.identity if name in _IDENTITY_NAMES else ""
