"""Which Zone a RecordSet belongs to. Pure, and known to short commands, which load nothing more for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def zone_of(record_set: Mapping[str, Any]) -> tuple[str, str]:
    """Return namespace and name of the Zone that a manifest of a RecordSet refers to."""
    reference = record_set["spec"]["zoneRef"]
    return reference.get("namespace") or record_set["metadata"]["namespace"], reference["name"]
