"""One cell: a value found by a printer column, as the column's type wants it shown.

Owns the conversions of the column types `string`, `integer`, `number`, `boolean` and `date`. A value of another type
than its column's is an empty cell, as in Kubernetes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from standalone.printing.age import age

_PLAIN_FLOAT_LIMIT = 1e6
_PLAIN_FLOAT_FLOOR = 1e-4


def cell(column_type: str, value: Any, now: datetime) -> Any:
    """The cell for `value` in a column of `column_type`; None is an empty cell."""
    if value is None:
        return None
    if column_type == "string":
        return text(value)
    if column_type == "date":
        return age(value, now) if isinstance(value, str) else None
    if column_type == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if column_type == "integer":
        return int(value)
    return float(value) if column_type == "number" else None


def text(value: Any) -> str:
    """A value as text: lists and objects as JSON with sorted keys, numbers in their shortest form."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case _:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _float(value: float) -> str:
    """The shortest exact form, with an exponent from a million on and below a ten-thousandth."""
    shortest = repr(value)
    size = abs(value)
    if size and not _PLAIN_FLOAT_FLOOR <= size < _PLAIN_FLOAT_LIMIT:
        digits = len(shortest.partition("e")[0].replace(".", "").lstrip("-0").rstrip("0"))
        return f"{value:.{max(digits - 1, 0)}e}"
    return shortest.removesuffix(".0")
