"""Plain numbers of transfers and notices, for metrics.

Owns nothing but the numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class TransferCounters:
    """Transfers sent and received by kind, requests refused, refreshes that failed, notices sent, given up and received."""

    sent: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    refresh_failures: int = 0
    notices_sent: int = 0
    notices_failed: int = 0
    notices_received: int = 0
