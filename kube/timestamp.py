"""The two text forms of time in API objects, always in UTC. Never parses durations."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


def time_text(moment: datetime) -> str:
    """`metav1.Time`: whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_time_text(moment: datetime) -> str:
    """`metav1.MicroTime`: always six fractional digits."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
