"""How much the store takes and keeps.

Owns the numbers; the modules that hold them say what happens beyond.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes of encoded objects, counts of events."""

    object_bytes: int = 1_572_864
    """etcd's default request limit, 1.5 MiB: what works here works there."""
    history_events: int = 20_000
    history_bytes: int = 24 * 1024 * 1024
    """How far back a watch can resume, whichever of the two is reached first."""
    compact_every_events: int = 2_000
    compact_every_bytes: int = 8 * 1024 * 1024
    """How often the history on disk is cut to the one in memory, whichever of the two is reached first."""


DEFAULT_LIMITS = Limits()
