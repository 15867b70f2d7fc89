"""docs/benchmarks.md and its plots, written from the figures of a run.

Owns the form. A run replaces the part of what it measured; the other parts stay as their own runs left them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final

from bench.figure import Figure, machine

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
PLOTS: Final = PAGE.with_name("benchmarks")

_HEAD: Final = """# Benchmarks

Every table and plot here was written by the run that measured it; `make bench-NAME` measures again and writes its part anew. Each part
names its machine. Peers are those of the system's packages, pinned and configured as `bench/name_server.py` has it, and take turns with
dns-api; figures are medians of all rounds. dnsperf ends near 165,000 queries a second on one core, so UDP is measured with the load
generator of `bench/generator`.
"""

_WIDTH: Final = 720
_ROW: Final = 26
_LABEL: Final = 200
_BAR: Final = 400


def write(name: str, what: str, figures: Sequence[Figure], page: Path = PAGE) -> None:
    """Put the figures of one benchmark into the page, with a plot of each chart; `what` says what was measured."""
    charts = dict.fromkeys(figure.chart for figure in figures if figure.chart)
    plots = page.with_name(page.stem)
    plots.mkdir(exist_ok=True)
    for old in plots.glob(f"{name}-*.svg"):
        old.unlink()
    pictures = []
    for number, chart in enumerate(charts, 1):
        file = plots / f"{name}-{number}.svg"
        file.write_text(_svg(chart, [figure for figure in figures if figure.chart == chart]), encoding="utf-8")
        pictures.append(f"![{chart}]({plots.name}/{file.name})")
    part = "\n\n".join([f"## {name}", what, _stamp(), _table(figures), *pictures])
    text = page.read_text(encoding="utf-8") if page.exists() else _HEAD
    page.write_text(_HEAD.rstrip("\n") + "\n\n" + _replaced(text, name, part), encoding="utf-8")


def _stamp() -> str:
    return f"Measured on {machine()}, on {datetime.now(UTC):%Y-%m-%d}."


def _replaced(text: str, name: str, part: str) -> str:
    """Return the parts of a page, in order of their names, with one of them replaced."""
    parts = {found[3:].partition("\n")[0]: found.strip() for found in re.split(r"(?m)^(?=## )", text)[1:]}
    parts[name] = part
    return "\n\n".join(parts[each] for each in sorted(parts)) + "\n"


def _table(figures: Iterable[Figure]) -> str:
    rows = ["| | value | bar | |", "|---|---:|---|---|"]
    rows += (f"| {each.name} | {each.value:,.2f} {each.unit} | {each.bar} | {each.verdict} |" for each in figures)
    return "\n".join(rows)


def _svg(chart: str, figures: Sequence[Figure]) -> str:
    """Return horizontal bars, one for each figure."""
    most = max(figure.value for figure in figures) or 1.0
    height = _ROW * (len(figures) + 1) + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="20" font-weight="bold">{escape(chart)} ({escape(figures[0].unit)})</text>',
    ]
    for number, figure in enumerate(figures, 1):
        top = number * _ROW + 6
        width = max(1, round(_BAR * figure.value / most))
        colour = "#1f6feb" if figure.label.startswith("dns-api") else "#8c959f"
        parts += [
            f'<text x="{_LABEL - 8}" y="{top + 15}" text-anchor="end">{escape(figure.label)}</text>',
            f'<rect x="{_LABEL}" y="{top}" width="{width}" height="{_ROW - 8}" fill="{colour}"/>',
            f'<text x="{_LABEL + width + 6}" y="{top + 15}">{figure.value:,.2f}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
