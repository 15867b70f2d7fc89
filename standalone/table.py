"""Server-side printing: objects as a `Table` of meta.k8s.io/v1, for clients that ask with `as=Table`.

Owns columns and rows. Never decides which objects are shown, and never stores anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal

from standalone.printing.builtin import BUILTIN, DEFAULT
from standalone.printing.cell import cell
from standalone.printing.column import NAME, Column
from standalone.printing.json_path import JsonPathError, compile_path
from standalone.resource import PrinterColumn, Resource

IncludeObject = Literal["Metadata", "Object", "None"]

INCLUDE_OBJECT_POLICIES: tuple[IncludeObject, ...] = ("Metadata", "Object", "None")
"""What the query parameter `includeObject` may say; absent or empty means Metadata."""


def table(
    resource: Resource,
    objects: Iterable[Mapping[str, Any]],
    *,
    include_object: IncludeObject = "Metadata",
    list_metadata: Mapping[str, Any] | None = None,
    with_columns: bool = True,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The Table of `objects`, with the given list metadata (resourceVersion, continue, remainingItemCount).

    `with_columns=False` leaves the column definitions out, as the second and later events of a watch do.
    Ages count from `now`, the present moment unless given.
    """
    columns = _columns_of(resource)
    document: dict[str, Any] = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": dict(list_metadata or {}),
        "columnDefinitions": [_definition(column) for column in columns] if with_columns else [],
        "rows": rows(resource, objects, include_object=include_object, now=now),
    }
    return document


def rows(
    resource: Resource,
    objects: Iterable[Mapping[str, Any]],
    *,
    include_object: IncludeObject = "Metadata",
    now: datetime | None = None,
) -> list[dict[str, Any]]:
    """The rows of a Table alone."""
    columns, moment = _columns_of(resource), now or datetime.now(UTC)
    return [_row(columns, obj, include_object, moment) for obj in objects]


def partial_metadata(obj: Mapping[str, Any]) -> dict[str, Any]:
    """An object reduced to its metadata: PartialObjectMetadata of meta.k8s.io/v1."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj.get("metadata", {})}


def _row(
    columns: tuple[Column, ...], obj: Mapping[str, Any], include_object: IncludeObject, now: datetime
) -> dict[str, Any]:
    row: dict[str, Any] = {"cells": [column.cell(obj, now) for column in columns]}
    if include_object != "None":
        row["object"] = obj if include_object == "Object" else partial_metadata(obj)
    return row


def _definition(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }


def _columns_of(resource: Resource) -> tuple[Column, ...]:
    return _columns(resource.group, resource.kind, resource.custom, resource.printer_columns)


@lru_cache(maxsize=512)
def _columns(group: str, kind: str, custom: bool, declared: tuple[PrinterColumn, ...]) -> tuple[Column, ...]:
    if not custom and (group, kind) in BUILTIN:
        return BUILTIN[group, kind]
    if not declared:
        return DEFAULT
    return (NAME, *(_declared(column) for column in declared))


def _declared(column: PrinterColumn) -> Column:
    description = column.description or f"Custom resource definition column (in JSONPath format): {column.json_path}"
    try:
        find = compile_path(column.json_path).find
    except JsonPathError:
        return Column(column.name, column.type, description, _no_cell, column.format, column.priority)

    def read(obj: Mapping[str, Any], now: datetime) -> Any:
        found = find(obj)
        return cell(column.type, found[0], now) if found else None

    return Column(column.name, column.type, description, read, column.format, column.priority)


def _no_cell(_obj: Mapping[str, Any], _now: datetime) -> None:
    """The cell of a path that cannot be read: Kubernetes takes any definition whose paths begin with a dot."""
