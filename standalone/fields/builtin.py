"""Shapes of the built-in kinds: which of their lists are sets or maps, which maps are units.

Owns one shape for each built-in kind the embedded API serves. Never judges objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from standalone.fields.shape import (
    ATOMIC_STRING_MAP,
    STRING_MAP,
    Shape,
    keyed_list,
    resource_shape,
    shape_of,
)
from standalone.schema.structural import StructuralSchema


def _partly(fields: Mapping[str, Shape]) -> Shape:
    """A map some of whose fields are owned in a particular way; all others are deduced."""
    return Shape(takes_map=True, fields=fields, open=True)


_ATOMIC_REFERENCE: Final = Shape(takes_map=True, atomic_map=True, open=True)
_BY_TYPE: Final = keyed_list(_partly({}), "type")
_BY_NAME: Final = keyed_list(_partly({}), "name")
_SECRET: Final = {"data": STRING_MAP, "stringData": STRING_MAP}
_SERVICE: Final = {
    "spec": _partly(
        {
            "ports": keyed_list(_partly({}), "port", "protocol", defaults={"protocol": "TCP"}),
            "selector": ATOMIC_STRING_MAP,
        }
    ),
    "status": _partly({"conditions": _BY_TYPE}),
}
_CONDITIONED: Final = {"spec": _partly({}), "status": _partly({"conditions": _BY_TYPE})}
_WEBHOOKS: Final = {
    "webhooks": keyed_list(
        _partly(
            {
                "matchConditions": _BY_NAME,
                "namespaceSelector": _ATOMIC_REFERENCE,
                "objectSelector": _ATOMIC_REFERENCE,
            }
        ),
        "name",
    )
}
_EVENT: Final = {
    "involvedObject": _ATOMIC_REFERENCE,
    "regarding": _ATOMIC_REFERENCE,
    "related": _ATOMIC_REFERENCE,
}
_FIELDS: Final[Mapping[tuple[str, str], Mapping[str, Shape]]] = {
    ("", "Namespace"): _CONDITIONED,
    ("", "Secret"): _SECRET,
    ("", "ConfigMap"): {"data": STRING_MAP, "binaryData": STRING_MAP},
    ("", "Event"): _EVENT,
    ("", "Service"): _SERVICE,
    ("", "ServiceAccount"): {"secrets": _BY_NAME},
    ("events.k8s.io", "Event"): _EVENT,
    ("coordination.k8s.io", "Lease"): {},
    ("discovery.k8s.io", "EndpointSlice"): {},
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _CONDITIONED,
    ("apiregistration.k8s.io", "APIService"): _CONDITIONED,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOKS,
}


def _open_resource(fields: Mapping[str, Shape]) -> Shape:
    closed = resource_shape(fields)
    return Shape(takes_map=True, fields=closed.fields, open=True)


_SHAPES: Final = {key: _open_resource(fields) for key, fields in _FIELDS.items()}
_OTHER: Final = _open_resource({})


def shape_for(schema: StructuralSchema | None, obj: Mapping[str, Any]) -> Shape:
    """Return the shape of an object's kind: from its schema, else built in, else deduced but for its metadata."""
    if schema is not None:
        return shape_of(schema)
    group, slash, _ = str(obj.get("apiVersion") or "").partition("/")
    return _SHAPES.get((group if slash else "", str(obj.get("kind") or "")), _OTHER)
