"""A printed column: its heading and the function that fills its cells, with the ways to read objects of any shape.

Owns the reading: stored objects of built-in kinds may lack any field, so nothing here raises on a missing one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from standalone.printing.age import age

NONE = "<none>"

Object = Mapping[str, Any]
Cell = Callable[[Object, datetime], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column with the function that fills it; `priority` above zero shows it in wide output only."""

    name: str
    type: str
    description: str
    cell: Cell
    format: str = ""
    priority: int = 0


def part(obj: Object, *path: str) -> Mapping[str, Any]:
    """The object at a path of field names; an empty one when any part is absent or null."""
    node: Any = obj
    for name in path:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else {}


def items(obj: Object, *path: str) -> list[Mapping[str, Any]]:
    """The objects in the list at a path; none when there is no list."""
    *parents, last = path
    value = part(obj, *parents).get(last)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _name(obj: Object, _now: datetime) -> Any:
    return part(obj, "metadata").get("name", "")


def _age(obj: Object, now: datetime) -> str:
    return age(part(obj, "metadata").get("creationTimestamp"), now)


NAME = Column("Name", "string", "The object's name.", _name, format="name")
AGE = Column("Age", "string", "The time since the object was created.", _age)


def at(*path: str, default: Any = "") -> Cell:
    """A cell that shows the value at a path as it is."""
    *parents, last = path

    def read(obj: Object, _now: datetime) -> Any:
        value = part(obj, *parents).get(last)
        return default if value is None else value

    return read


def texts(obj: Object, name: str) -> list[str]:
    """The list in a field as texts; none when there is no list."""
    value = obj.get(name)
    return [str(each) for each in value] if isinstance(value, list) else []


def count(*fields: str) -> Cell:
    """A cell that shows how many entries some fields hold together."""
    return lambda obj, _now: sum(len(obj[each]) for each in fields if isinstance(obj.get(each), Mapping | list))
