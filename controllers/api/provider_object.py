"""Provider objects as a provider of this repository declares them, made from the types that its controllers parse with."""

from __future__ import annotations

from typing import Any

from controllers.api.group import PROVIDERS
from controllers.api.provider import PayloadSchema, ProviderSpec
from controllers.api.schema import structural_schema
from zonemodel.model import Model


def provider_object(name: str, spec: ProviderSpec) -> dict[str, Any]:
    """Return the API JSON of a Provider."""
    return {
        "apiVersion": PROVIDERS.api_version,
        "kind": PROVIDERS.kind,
        "metadata": {"name": name},
        "spec": spec.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True),
    }


def payload_schema(model: type[Model], description: str) -> PayloadSchema:
    """Return the schema of a payload, with every bound that the type has."""
    return PayloadSchema(open_apiv3_schema={**structural_schema(model, strict=True), "description": description})


def empty_payload(description: str) -> PayloadSchema:
    """Return the schema of a payload that has no field."""
    return PayloadSchema(open_apiv3_schema={"type": "object", "description": description, "properties": {}})
