"""One measured figure, the bar it is held to, and how it is printed."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """`at_most` or `at_least` is the bar; a figure without one is only told. Those of one `chart` are drawn side by side as `label`."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    chart: str = ""
    label: str = ""

    @property
    def passed(self) -> bool:
        if self.at_least is not None and self.value < self.at_least:
            return False
        return self.at_most is None or self.value <= self.at_most

    @property
    def bar(self) -> str:
        """What the value is held to, in words; empty for what is only told."""
        limits = ((self.at_most, "at most"), (self.at_least, "at least"))
        return " and ".join(f"{how} {bar:g} {self.unit}" for bar, how in limits if bar is not None)

    @property
    def verdict(self) -> str:
        return ("PASS" if self.passed else "FAIL") if self.bar else ""

    def line(self) -> str:
        """Return the figure as one line of the report."""
        bar = f"  {self.bar}  {self.verdict}" if self.bar else ""
        return f"{self.name:<72} {self.value:>10.2f} {self.unit:<4}{bar}"


def told(chart: str, label: str, value: float, unit: str) -> Figure:
    """Return a figure without a bar, drawn beside others."""
    return Figure(f"{label}: {chart}", value, unit, chart=chart, label=label)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` (0 to 1) of the values do not pass."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def machine() -> str:
    """Return what the figures were measured on."""
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores of {_processor()}, {system}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
