"""Waiting for what announces itself to nobody: another process that starts."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_S = 60.0
PAUSE_S = 0.02


def until(holds: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
    """Ask until the answer is yes; fails when it stays no."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, f"this did not come within {limit_s:g} s: {what}"
        time.sleep(PAUSE_S)
