"""One measured figure, the bar it is held to, and how it is printed."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """`at_most` or `at_least` is the bar; a figure without one is only told."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def passed(self) -> bool:
        if self.at_least is not None and self.value < self.at_least:
            return False
        return self.at_most is None or self.value <= self.at_most

    def line(self) -> str:
        """Return the figure as one line of the report."""
        limits = ((self.at_most, "at most"), (self.at_least, "at least"))
        bars = "".join(f"  {how} {bar:g} {self.unit}" for bar, how in limits if bar is not None)
        verdict = f"{bars}  {'PASS' if self.passed else 'FAIL'}" if bars else ""
        return f"{self.name:<58} {self.value:>10.2f} {self.unit:<4}{verdict}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` (0 to 1) of the values do not pass."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def machine() -> str:
    """Return what the figures were measured on."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}"
