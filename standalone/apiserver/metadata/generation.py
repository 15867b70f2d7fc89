"""`metadata.generation`: the count of changes to what an object asks for.

Owns what counts as such a change.
"""

from __future__ import annotations

from typing import Any

from standalone.schema.equality import same

JsonObject = dict[str, Any]


def count_generation(live: JsonObject, proposed: JsonObject, *, has_status: bool) -> None:
    """Raise `metadata.generation` in place when anything but metadata (and a separate status) differs."""
    ignored = ("metadata", "status", "apiVersion") if has_status else ("metadata", "apiVersion")
    names = (live.keys() | proposed.keys()).difference(ignored)
    if not all(same(live.get(name), proposed.get(name)) for name in names):
        proposed["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1
