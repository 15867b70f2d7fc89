"""One cell: a value found by a printer column, as the column's type wants it shown.

Owns the conversions of the column types `string`, `integer`, `number`, `boolean` and `date`. A value of another type
than its column's is an empty cell, as in Kubernetes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from standalone.printing.age import age
from standalone.schema import gotext


def cell(column_type: str, value: Any, now: datetime) -> Any:
    """The cell for `value` in a column of `column_type`; None is an empty cell."""
    if column_type == "string":
        return text(value)
    if column_type == "date":
        return age(value, now) if isinstance(value, str) else None
    if column_type == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if column_type == "integer" or (column_type == "number" and value == int(value)):
        return int(value)  # a whole number has no point in JSON
    return value if column_type == "number" else None


def text(value: Any) -> str:
    """A value as text: lists and objects as JSON with sorted keys, numbers in their shortest form."""
    match value:
        case None:
            return "<no value>"
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return gotext.number(value)
        case _:
            return gotext.json_text(value)
