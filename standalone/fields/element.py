"""Path elements of FieldsV1: how a list item is named, and how a path is shown to people.

Owns the spelling of `f:`, `k:` and `v:` elements. Never walks objects.
"""

from __future__ import annotations

from typing import Any

import orjson

from standalone.fields.shape import Shape
from standalone.schema import gotext


def field_element(name: str) -> str:
    return "f:" + name


def item_element(shape: Shape, item: Any) -> str | None:
    """Return the element that names an item of a set or map list; None for an item that cannot be named."""
    if not shape.keys:
        return None if isinstance(item, dict | list) or item is None else "v:" + _json(item)
    if not isinstance(item, dict):
        return None
    found = {}
    for key in shape.keys:
        if key in item:
            found[key] = item[key]
        elif key in shape.key_defaults:
            found[key] = shape.key_defaults[key]
    return "k:" + _json(found) if found else None


def _json(value: Any) -> str:
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    if text.isascii() and not any(char in text for char in "<>&."):
        return text
    return gotext.json_text(value)


def shown(path: tuple[str, ...]) -> str:
    """Return a path the way conflicts print it: `.spec.ports[port=80,protocol="TCP"].name`."""
    return "".join(_shown(element) for element in path)


def _shown(element: str) -> str:
    kind, _, rest = element.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "v":
        return f"[={rest}]"
    if kind == "k":
        keys = orjson.loads(rest)
        return "[" + ",".join(f"{name}={gotext.json_text(keys[name])}" for name in sorted(keys)) + "]"
    return f"[{rest}]"
