"""Built-in objects as the decoder of kube-apiserver reads them: what it takes for what is left open.

Owns the two places where decoding into typed values changes them: text that is null is empty, and base64 may be empty
and have line ends in it. Custom resources are read as they are.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from standalone.schema.fault import Fault, type_invalid
from standalone.schema.node import Node

_BYTES = "go-bytes"


def with_bytes(schema: Any) -> Any:
    """A built-in kind's schema with a format of its own for base64, of which nothing is a value, too."""
    if isinstance(schema, Mapping):
        return {
            name: _BYTES if (name, value) == ("format", "byte") else with_bytes(value) for name, value in schema.items()
        }
    return [with_bytes(each) for each in schema] if isinstance(schema, list) else schema


def read(node: Node, value: Any, field: str, faults: list[Fault]) -> Any:
    """The value as it is read; what is not base64 is appended to `faults`. Parts that stay the same are shared."""
    if node.format == _BYTES and isinstance(value, str):
        return _read_bytes(value, field, faults)
    if isinstance(value, dict):
        return {name: _read_member(node, name, member, field, faults) for name, member in value.items()}
    if isinstance(value, list) and node.items is not None:
        return [read(node.items, item, f"{field}[{index}]", faults) for index, item in enumerate(value)]
    return value


def _read_member(node: Node, name: str, member: Any, field: str, faults: list[Fault]) -> Any:
    below = node.properties.get(name) or node.additional
    if below is None:
        return member
    if member is None:
        return "" if node.additional is below and below.types == ("string",) else None
    return read(below, member, f"{field}.{name}" if field else name, faults)


def _read_bytes(text: str, field: str, faults: list[Fault]) -> str:
    packed = text.replace("\n", "").replace("\r", "")
    try:
        base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        faults.append(type_invalid(field, "<value omitted>", "illegal base64 data"))
    return packed
