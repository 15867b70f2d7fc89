"""Whether an applied configuration fits the shape of its kind.

Owns the faults that make an apply impossible: undeclared fields, values of another type, items that cannot be told
apart. The schema's own validation comes later and says more.
"""

from __future__ import annotations

from typing import Any, Final

from standalone.fields.element import item_element, shown
from standalone.fields.shape import Shape
from standalone.schema.node import ListType

_SCALARS: Final = {
    "numeric": "numeric (int or float)",
    "string": "string",
    "boolean": "boolean",
    "untyped": "any scalar",
}


def undeclared(shape: Shape, value: Any, path: tuple[str, ...] = ()) -> list[str]:
    """Return what does not fit, each with its path, in document order."""
    if value is None:
        return []
    if isinstance(value, dict):
        return _map_faults(shape, value, path) if shape.takes_map else [_expected(shape, value, path)]
    if isinstance(value, list):
        return _list_faults(shape, value, path) if shape.takes_list else [_expected(shape, value, path)]
    return [] if _scalar_fits(shape.scalar, value) else [_expected(shape, value, path)]


def _scalar_fits(scalar: str, value: Any) -> bool:
    if scalar == "untyped":
        return True
    if isinstance(value, bool):
        return scalar == "boolean"
    if isinstance(value, str):
        return scalar == "string"
    return scalar == "numeric"


def _expected(shape: Shape, value: Any, path: tuple[str, ...]) -> str:
    wanted = _SCALARS.get(shape.scalar) or ("map" if shape.takes_map else "list")
    return f"{shown(path)}: expected {wanted}, got {_type_name(value)}"


def _type_name(value: Any) -> str:
    names = {bool: "boolean", str: "string", dict: "map", list: "list"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "numeric")


def _map_faults(shape: Shape, value: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    faults: list[str] = []
    for name, member in value.items():
        below = shape.member(name)
        here = (*path, "f:" + name)
        if below is None:
            faults.append(f"{shown(here)}: field not declared in schema")
        else:
            faults += undeclared(below, member, here)
    return faults


def _list_faults(shape: Shape, value: list[Any], path: tuple[str, ...]) -> list[str]:
    if shape.list_type is ListType.ATOMIC:
        return [
            fault for index, item in enumerate(value) for fault in undeclared(shape.item, item, (*path, f"i:{index}"))
        ]
    faults: list[str] = []
    seen: set[str] = set()
    for index, item in enumerate(value):
        element = item_element(shape, item)
        if element is None:
            faults.append(f"{shown(path)}: element {index}: {_unnamed(shape, item)}")
            continue
        if element in seen:
            faults.append(f"{shown(path)}: duplicate entries for key {shown((element,))}")
        seen.add(element)
        faults += undeclared(shape.item, item, (*path, element))
    return faults


def _unnamed(shape: Shape, item: Any) -> str:
    if not shape.keys:
        kind = "map" if isinstance(item, dict) else "list" if isinstance(item, list) else "null"
        return f"associative list without keys has an element that's a {kind} type"
    if item is None:
        return "associative list with keys may not have a null element"
    if not isinstance(item, dict):
        return "associative list with keys may not have non-map elements"
    keys = " ".join(f'"{key}"' for key in shape.keys)
    return (
        f"associative list with keys has an element that omits all key fields [{keys}] "
        "(and doesn't have default values for any key fields)"
    )
