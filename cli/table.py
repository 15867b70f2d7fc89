"""Tables as text: columns as wide as their cells need, in the manner of `kubectl`.

Owns widths, and which columns of a server's Table are shown. Never asks a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from standalone.printing.age import age

_GAP: Final = "   "


@dataclass(slots=True)
class Layout:
    """Widths of columns; they grow with what is printed, so that later rows stand below earlier ones."""

    widths: list[int] = field(default_factory=list)

    def lines(self, rows: Iterable[Sequence[str]]) -> list[str]:
        """Return rows as lines; the cells of one column begin below one another."""
        rows = list(rows)
        for row in rows:
            self.widths += [0] * (len(row) - len(self.widths))
            for at, cell in enumerate(row):
                self.widths[at] = max(self.widths[at], len(cell))
        return [_GAP.join(map(str.ljust, row, self.widths)).rstrip() for row in rows]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a server's Table that are shown.

    `prefix` stands before each name: `zone.dns.appthrust.io/` where several kinds are shown.
    """

    headers: tuple[str, ...]
    shown: tuple[int, ...]
    prefix: str = ""
    with_namespace: bool = False

    @classmethod
    def of(cls, table: Mapping[str, Any], *, wide: bool, prefix: str, with_namespace: bool) -> Columns:
        """Choose from the definitions of a Table; narrow ones leave out what has a priority above 0."""
        definitions = table.get("columnDefinitions") or ()
        shown = tuple(at for at, column in enumerate(definitions) if wide or not column.get("priority"))
        headers = tuple(str(definitions[at]["name"]).upper() for at in shown)
        return cls(("NAMESPACE", *headers) if with_namespace else headers, shown, prefix, with_namespace)

    def rows(self, table: Mapping[str, Any]) -> list[tuple[str, ...]]:
        """Return the cells of each row. The Tables of later events need not repeat their definitions."""
        return [self._row(row) for row in table.get("rows") or ()]

    def _row(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        name, *rest = (_cell(row["cells"][at]) for at in self.shown)
        cells = (self.prefix + name, *rest)
        return (row["object"]["metadata"].get("namespace") or "", *cells) if self.with_namespace else cells


def as_table(answer: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    """Return a server's answer if it is a Table, else a Table of names and ages made from the object or list that it is."""
    if answer.get("kind") == "Table":
        return answer
    objects = answer["items"] or () if "items" in answer else (answer,)
    definitions = [{"name": "Name", "type": "string"}, {"name": "Age", "type": "string"}]
    rows = [
        {"cells": [each["metadata"]["name"], age(each["metadata"].get("creationTimestamp"), now)], "object": each}
        for each in objects
    ]
    return {"kind": "Table", "metadata": answer["metadata"], "columnDefinitions": definitions, "rows": rows}


def _cell(value: object) -> str:
    """One line: the first of several, with a mark that there are more."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    first, newline, _ = str(value).partition("\n")
    return f"{first}..." if newline else first
