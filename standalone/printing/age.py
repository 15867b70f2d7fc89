"""Timestamps as people read them: how long ago, in at most two units.

Owns the wording of ages, which is kubectl's. Never reads a clock: the moment to count from is an argument.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

UNKNOWN = "<unknown>"
INVALID = "<invalid>"

_MINUTE_S = 60
_HOUR_S = 60 * _MINUTE_S
_DAY_S = 24 * _HOUR_S
_YEAR_S = 365 * _DAY_S


def age(timestamp: Any, now: datetime) -> str:
    """The time from an RFC 3339 `timestamp` to `now`; `<unknown>` when it is absent, `<invalid>` when it is no time."""
    if timestamp in (None, ""):
        return UNKNOWN
    moment = parse_time(timestamp)
    return INVALID if moment is None else duration(int((now - moment).total_seconds()))


def parse_time(timestamp: Any) -> datetime | None:
    """The moment that an RFC 3339 text names, or None when it names none."""
    if not isinstance(timestamp, str):
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def duration(seconds: int) -> str:
    """A length of time: exact while it is short, rounded down to one unit as it grows. A little skew counts as zero."""
    if seconds < -1:
        return INVALID
    if seconds < 2 * _MINUTE_S:
        return f"{max(seconds, 0)}s"
    if seconds < 10 * _MINUTE_S:
        return _two(seconds, _MINUTE_S, "m", 1, "s")
    if seconds < 3 * _HOUR_S:
        return f"{seconds // _MINUTE_S}m"
    if seconds < 8 * _HOUR_S:
        return _two(seconds, _HOUR_S, "h", _MINUTE_S, "m")
    if seconds < 2 * _DAY_S:
        return f"{seconds // _HOUR_S}h"
    if seconds < 8 * _DAY_S:
        return _two(seconds, _DAY_S, "d", _HOUR_S, "h")
    if seconds < 2 * _YEAR_S:
        return f"{seconds // _DAY_S}d"
    if seconds < 8 * _YEAR_S:
        return _two(seconds, _YEAR_S, "y", _DAY_S, "d")
    return f"{seconds // _YEAR_S}y"


def _two(seconds: int, large_s: int, large: str, small_s: int, small: str) -> str:
    whole, rest = divmod(seconds, large_s)
    return f"{whole}{large}{rest // small_s}{small}" if rest >= small_s else f"{whole}{large}"
