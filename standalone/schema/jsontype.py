"""OpenAPI type names of JSON values, and whether a value is of a schema's type.

Owns the equivalences Kubernetes grants (whole floats are integers, integers are numbers). Never words faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from standalone.schema.node import Node

INT64: Final = range(-(1 << 63), 1 << 63)
NATIVE_FORMATS: Final[Mapping[str, str]] = {"integer": "int64", "number": "float64"}
_NAMES: Final[Mapping[type, str]] = {
    bool: "boolean",
    str: "string",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


def json_type(value: Any) -> str:
    """Return the type name of a value that is not None; an integer past 64 bits is a number, as Go decodes it."""
    name = _NAMES[type(value)]
    return "number" if name == "integer" and value not in INT64 else name


def type_fits(node: Node, value: Any, kind: str) -> bool:
    """Return whether a value of type `kind` satisfies the node's type and format name."""
    types = node.types
    if kind in types or not (types or node.format):
        return True
    if ("integer" in types and kind == "number" and float(value).is_integer()) or (
        "number" in types and kind == "integer"
    ):
        return True
    if node.format and kind not in ("string", "array"):
        return node.format == NATIVE_FORMATS.get(kind, "")
    # A format speaks for the type of strings and arrays: what they hold is the format check's to judge.
    return bool(node.format) and "number" not in types and "integer" not in types
