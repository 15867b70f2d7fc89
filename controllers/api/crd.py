"""CustomResourceDefinitions, made from the Python types: of the core kinds, and of any kind that a provider brings along.

Owns what a definition adds to a type: scope, names, printer columns, the status subresource and the immutability rules. Never
writes files and never talks to an API.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from controllers.api.group import PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.api.provider import ProviderSpec
from controllers.api.record_set import RecordSetSpec, RecordSetStatus
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS, RecordWithdrawalSpec, RecordWithdrawalStatus
from controllers.api.record_withdrawal_waiver import (
    RECORD_WITHDRAWAL_WAIVERS,
    RecordWithdrawalWaiverSpec,
    RecordWithdrawalWaiverStatus,
)
from controllers.api.schema import structural_schema
from controllers.api.zone import ZoneSpec, ZoneStatus
from controllers.api.zone_class import ZoneClassSpec, ZoneClassStatus
from controllers.api.zone_unit import ZoneUnitSpec, ZoneUnitStatus
from kube.resource import ResourceRef
from zonemodel.model import Model


@dataclass(frozen=True, slots=True)
class Column:
    """One printer column; `wide` columns show with -o wide only."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: what its definition says beyond its types.

    `strict` kinds carry every constraint in their schema; claims do not, so that admission can name all faults at once.
    `immutable` lists spec fields by dotted path.
    """

    ref: ResourceRef
    description: str
    spec: type[Model]
    status: type[Model] | None
    columns: tuple[Column, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ("dns",)
    strict: bool = True
    immutable: tuple[str, ...] = ()


def condition_column(kind: str) -> Column:
    """Return the column with the status of a condition."""
    return Column(kind, f'.status.conditions[?(@.type=="{kind}")].status')


ACCEPTED, PROGRAMMED = condition_column("Accepted"), condition_column("Programmed")
# Of several the API prints the first: why a claim that is not even accepted is not, else why it is not programmed. Empty when all is well.
NOT_TRUE = '.status.conditions[?(@.status!="True")]'
AGE = Column("Age", ".metadata.creationTimestamp", "date")
STANDING = (Column("Reason", f"{NOT_TRUE}.reason"), AGE, Column("Message", f"{NOT_TRUE}.message", wide=True))
PROVIDER = Column("Provider", ".spec.provider.name")

KINDS = (
    Kind(
        PROVIDERS,
        "Contract of a DNS provider: its versions, payload schemas and rules.",
        ProviderSpec,
        None,
        (Column("Display", ".spec.display.name"), Column("Versions", ".spec.versions[*].name"), AGE),
    ),
    Kind(
        ZONE_CLASSES,
        "How the zones of a kind are provided, and from which namespaces they may be claimed.",
        ZoneClassSpec,
        ZoneClassStatus,
        (PROVIDER, Column("Controller", ".spec.controllerName", wide=True), ACCEPTED, *STANDING),
        strict=False,
        immutable=("provider", "controllerName"),
    ),
    Kind(
        ZONES,
        "Claim to a DNS zone.",
        ZoneSpec,
        ZoneStatus,
        (Column("Domain", ".spec.domainName"), PROVIDER, ACCEPTED, PROGRAMMED, *STANDING),
        strict=False,
        immutable=("domainName", "zoneClassRef", "provider"),
    ),
    Kind(
        RECORD_SETS,
        "Claim to the records of one name and type in a zone.",
        RecordSetSpec,
        RecordSetStatus,
        (
            Column("Zone", ".spec.zoneRef.name"),
            Column("Type", ".spec.type"),
            Column("Name", ".spec.name"),
            ACCEPTED,
            PROGRAMMED,
            *STANDING,
        ),
        short_names=("rrset",),
        strict=False,
        immutable=("zoneRef", "provider", "type", "name"),
    ),
    Kind(
        ZONE_UNITS,
        "Ledger of one zone: what the provider has to make true and what it made of it. Written by controllers only.",
        ZoneUnitSpec,
        ZoneUnitStatus,
        (
            Column("Domain", ".spec.zone.domainName"),
            Column("Provider", ".spec.provider.name"),
            Column("Part", ".spec.part", "integer"),
            PROGRAMMED,
            *STANDING,
        ),
        immutable=("zone.ref", "zone.domainName", "zone.zoneClassRef", "provider.name", "part"),
    ),
    Kind(
        RECORD_WITHDRAWALS,
        "Claim that a name must no longer point at an address; ready once that has been observed.",
        RecordWithdrawalSpec,
        RecordWithdrawalStatus,
        (
            Column("Zone", ".spec.zoneRef.name"),
            Column("Name", ".spec.name"),
            Column("Address", ".spec.address"),
            ACCEPTED,
            condition_column("Withdrawn"),
            condition_column("Ready"),
            *STANDING,
        ),
        short_names=("rwd",),
        strict=False,
        immutable=("zoneRef", "provider", "name", "address"),
    ),
    Kind(
        RECORD_WITHDRAWAL_WAIVERS,
        "Operator's written word that an address may be released before its withdrawal is proven.",
        RecordWithdrawalWaiverSpec,
        RecordWithdrawalWaiverStatus,
        (
            Column("Claim", ".spec.claimRef.name"),
            Column("Address", ".spec.address"),
            Column("Why", ".spec.reason", wide=True),
            ACCEPTED,
            *STANDING,
        ),
        short_names=("rww",),
        strict=False,
        immutable=("claimRef", "specDigest", "address", "reason", "reservationRef"),
    ),
)


def custom_resource_definitions() -> Iterator[dict[str, Any]]:
    """Yield the CustomResourceDefinition of every core kind, as apiextensions.k8s.io/v1 objects."""
    return (definition_of(kind) for kind in KINDS)


def definition_of(kind: Kind) -> dict[str, Any]:
    """Return the CustomResourceDefinition of a kind."""
    ref = kind.ref
    names: dict[str, Any] = {
        "kind": ref.kind,
        "listKind": f"{ref.kind}List",
        "plural": ref.plural,
        "singular": ref.kind.lower(),
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    if kind.categories:
        names["categories"] = list(kind.categories)
    version: dict[str, Any] = {
        "name": ref.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _root_schema(kind)},
        "additionalPrinterColumns": [_printer_column(column) for column in kind.columns],
    }
    if kind.status is not None:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{ref.plural}.{ref.group}"},
        "spec": {
            "group": ref.group,
            "names": names,
            "scope": "Namespaced" if ref.namespaced else "Cluster",
            "versions": [version],
        },
    }


def _root_schema(kind: Kind) -> dict[str, Any]:
    spec = structural_schema(kind.spec, strict=kind.strict)
    spec["description"] = f"What the {kind.ref.kind} says."
    for path in kind.immutable:
        _make_immutable(spec, path.split("."))
    properties: dict[str, Any] = {
        "apiVersion": {"type": "string", "description": "Group and version of the object."},
        "kind": {"type": "string", "description": "Kind of the object."},
        "metadata": {"type": "object"},
        "spec": spec,
    }
    if kind.status is not None:
        properties["status"] = structural_schema(kind.status, strict=True)
        properties["status"]["description"] = "What is so, written by controllers."
    return {"type": "object", "description": kind.description, "required": ["spec"], "properties": properties}


def _make_immutable(schema: dict[str, Any], path: list[str]) -> None:
    *parents, name = path
    for parent in parents:
        schema = schema["properties"][parent]
    field = schema["properties"][name]
    field.setdefault("x-kubernetes-validations", []).append({"rule": "self == oldSelf", "message": "is immutable"})
    if name not in schema.get("required", ()):
        schema.setdefault("x-kubernetes-validations", []).append(
            {"rule": f"has(self.{name}) == has(oldSelf.{name})", "message": f"{name} is immutable"}
        )


def _printer_column(column: Column) -> dict[str, Any]:
    out: dict[str, Any] = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.wide:
        out["priority"] = 1
    return out
