"""Who may transfer a zone: addresses, networks and keys.

Owns the meaning of the entries of allow lists. Never decides what a refusal looks like.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from server.network import Networks
from server.transfer.key import key_name
from zonemodel.name import WireName

KEY_PREFIX: Final = "key:"
ALLOWED: Final = "an address, a network such as 192.0.2.0/24, or key:NAME"


@dataclass(frozen=True, slots=True)
class Access:
    """One allow list: whoever matches one entry may transfer."""

    networks: Networks
    keys: frozenset[WireName]

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Access:
        """Read the entries; raises ValueError, which names the one that is none."""
        texts = list(entries)
        keys = frozenset(_key(text) for text in texts if text.startswith(KEY_PREFIX))
        return cls(Networks.parse(text for text in texts if not text.startswith(KEY_PREFIX)), keys)

    def allows(self, client: str, key: WireName | None) -> bool:
        """Judge a client by its address, and by the key that its request is signed with, None when it is not."""
        return (key is not None and key in self.keys) or client in self.networks

    def __bool__(self) -> bool:
        return bool(self.keys or self.networks)


def _key(text: str) -> WireName:
    try:
        return key_name(text.removeprefix(KEY_PREFIX))
    except ValueError as error:
        raise ValueError(f"found {text!r} ({error}), allowed is {ALLOWED}") from error
