"""Exact equality of JSON values, cheap when nothing changed.

Owns the comparison that lets validation and field tracking skip unchanged sub-trees. Never reports what differs.
"""

from __future__ import annotations

from typing import Any

import orjson

_CONTAINERS = (dict, list)


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal in type and content; `1`, `1.0` and `true` are three values.

    Python's own `==` runs at C speed but takes `True` for `1`, so equal containers are confirmed by their encoding.
    """
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right) or left != right:
        return False
    if kind not in _CONTAINERS:
        return True
    return _encoded_alike(left, right) or _same_deep(left, right)


def _encoded_alike(left: Any, right: Any) -> bool:
    try:
        return orjson.dumps(left) == orjson.dumps(right)
    except TypeError:  # an integer past 64 bits: only the slow walk can tell
        return False


def _same_deep(left: Any, right: Any) -> bool:
    """Decide for values that are `==` but encode differently: another key order, or a boolean beside a number."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return len(left) == len(right) and all(key in right and _same_deep(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same_deep, left, right))
    return bool(left == right)
