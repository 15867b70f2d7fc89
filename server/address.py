"""Where a name server listens, or is to be found.

Owns nothing else.
"""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """Where to listen: a numeric address and a port, 0 for any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
