"""The variables that the expressions of a Provider version read, typed by the core kinds and the version's own schemas.

A payload without a schema is no field: expressions cannot speak of what nobody described.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.core.cel.expression import Environment
from controllers.core.cel.shape import shape_of
from controllers.core.providercontract.target import Target, item_schema

Schemas = Mapping[str, Mapping[str, Any]]
"""Payload schemas of one kind, by the name of the payload."""

_NAME: Final = {"type": "string", "maxLength": 253}
_METADATA: Final = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "namespace": _NAME,
        "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 63}},
    },
}


def claim_environment(target: Target, schemas: Schemas) -> Environment:
    """Return the environment of rules and toggles: `self` is the claim, with metadata (name, namespace, labels) and spec."""
    spec = _with_payloads(target.spec_schema(), target.payloads, schemas)
    return Environment({"self": shape_of(_object({"metadata": _METADATA, "spec": spec}))})


def pair_environment(schemas: Schemas) -> Environment:
    """Return the environment of rules over two record sets of one owner name in a ledger: `self` and `other`.

    `zone` has namespace, name and domainName, `provider` name and version; `toVersion` is the storage version's name.
    """
    item = shape_of(_with_payloads(item_schema(), Target.RECORD_SET.payloads, schemas))
    zone = shape_of(_object({"namespace": _NAME, "name": _NAME, "domainName": _NAME}))
    provider = shape_of(_object({"name": _NAME, "version": _NAME}))
    return Environment({"self": item, "other": item, "zone": zone, "provider": provider, "toVersion": shape_of(_NAME)})


def conversion_environment(target: Target, schemas: Schemas) -> Environment:
    """Return the environment of a conversion: `self` has the payloads of the claim that are present."""
    return Environment({"self": shape_of(_with_payloads(_object({}), target.payloads, schemas))})


def claim_variables(manifest: Mapping[str, Any]) -> dict[str, object]:
    """Return the variables of a claim's environment."""
    metadata = manifest.get("metadata")
    shown = {name: metadata.get(name) for name in _METADATA["properties"]} if isinstance(metadata, Mapping) else {}
    return {"self": {"metadata": shown, "spec": manifest.get("spec")}}


def _with_payloads(schema: Mapping[str, Any], payloads: tuple[str, ...], schemas: Schemas) -> dict[str, Any]:
    properties = {name: each for name, each in schema["properties"].items() if name not in payloads}
    return {**schema, "properties": properties | {name: schemas[name] for name in payloads if name in schemas}}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties)}
