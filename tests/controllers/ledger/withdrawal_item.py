"""A withdrawal of an address as it stands in a ledger, for tests of what is made of it."""

from __future__ import annotations

from typing import Any, Final

ADDRESS: Final = "192.0.2.1"
WITHDRAWAL: Final[dict[str, Any]] = {
    "claimNamespace": "team",
    "claimName": "old",
    "claimUID": "u-1",
    "claimGeneration": 1,
    "name": "www",
    "type": "A",
    "address": ADDRESS,
}
