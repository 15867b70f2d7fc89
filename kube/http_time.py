"""Moments and delays in the headers of HTTP answers: Date, and Retry-After in both of its forms (RFC 9110).

Owns the reading and the bound of a delay. Never waits.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final

AT_MOST_S: Final = 600.0
"""A longer wish is cut: a slip of a service or of a proxy before it must not stop anybody for a day."""


def http_date(text: str) -> datetime | None:
    """Return the moment of an HTTP date, always with its zone (section 5.6.7); None when it is none."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # a number in it may be larger than any date has
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)  # "-0000" is UTC of unknown origin


def retry_after_s(value: object, now: datetime | None = None) -> float | None:
    """Return the seconds that a Retry-After asks to wait (section 10.2.3), from 0 to AT_MOST_S; None when nothing readable was said.

    A moment is compared with `now`, which is the present unless given; one that is over means 0.
    """
    text = str(value).strip() if value is not None else ""
    seconds = _delay_s(text)
    if seconds is None and (moment := http_date(text)):
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return None if seconds is None else min(max(seconds, 0.0), AT_MOST_S)


def _delay_s(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if seconds >= 0 and (isfinite(seconds) or text.isdecimal()) else None
