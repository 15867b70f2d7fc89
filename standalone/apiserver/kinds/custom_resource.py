"""The resources a CustomResourceDefinition (apiextensions.k8s.io/v1) stands for.

Owns the reading of a stored, valid definition. Never decides whether a definition is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from standalone.resource import PrinterColumn, Resource

Definition = Mapping[str, Any]

AGE = PrinterColumn("Age", "date", ".metadata.creationTimestamp")


def has_condition(definition: Definition, condition_type: str) -> bool:
    """Whether a status condition of the definition is True."""
    conditions = definition.get("status", {}).get("conditions", ())
    return any(each["type"] == condition_type and each["status"] == "True" for each in conditions)


def served_resources(definition: Definition) -> Iterable[Resource]:
    """One resource for each served version; none until the definition is established."""
    if not has_condition(definition, "Established"):
        return
    for version in definition["spec"]["versions"]:
        if version["served"]:
            yield _resource(definition, version)


def _resource(definition: Definition, version: Mapping[str, Any]) -> Resource:
    spec = definition["spec"]
    names = definition["status"]["acceptedNames"]
    return Resource(
        group=spec["group"],
        version=version["name"],
        plural=names["plural"],
        singular=names.get("singular", names["kind"].lower()),
        kind=names["kind"],
        list_kind=names.get("listKind", f"{names['kind']}List"),
        namespaced=spec["scope"] == "Namespaced",
        short_names=tuple(names.get("shortNames", ())),
        categories=tuple(names.get("categories", ())),
        has_status="status" in version.get("subresources", {}),
        schema=version.get("schema", {}).get("openAPIV3Schema"),
        printer_columns=_columns(version),
        custom=True,
        annotations=definition["metadata"].get("annotations", {}),
        has_generation=True,
        selectable_fields=tuple(each["jsonPath"].lstrip(".") for each in version.get("selectableFields", ())),
    )


def _columns(version: Mapping[str, Any]) -> tuple[PrinterColumn, ...]:
    """The declared columns, or the age alone when there are none."""
    columns = version.get("additionalPrinterColumns")
    if not columns:
        return (AGE,)
    return tuple(
        PrinterColumn(
            name=column["name"],
            type=column["type"],
            json_path=column["jsonPath"],
            format=column.get("format", ""),
            description=column.get("description", ""),
            priority=column.get("priority", 0),
        )
        for column in columns
    )
