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


_PLAIN: Final = _partly({})
"""A struct whose members are all plain; declared so that what is in it does not claim the struct itself."""
_UNIT: Final = Shape(takes_map=True, atomic_map=True, open=True)
_BY_TYPE: Final = keyed_list(_PLAIN, "type")
_CLIENT_CONFIG: Final = _partly({"service": _PLAIN})
_NAMESPACE: Final = {"spec": _PLAIN, "status": _partly({"conditions": _BY_TYPE})}
_EVENT: Final = {
    "deprecatedSource": _PLAIN,
    "involvedObject": _UNIT,
    "regarding": _UNIT,
    "related": _UNIT,
    "series": _PLAIN,
    "source": _PLAIN,
}
_SERVICE: Final = {
    "spec": _partly(
        {
            "ports": keyed_list(_PLAIN, "port", "protocol", defaults={"protocol": "TCP"}),
            "selector": ATOMIC_STRING_MAP,
            "sessionAffinityConfig": _partly({"clientIP": _PLAIN}),
        }
    ),
    "status": _partly({"conditions": _BY_TYPE, "loadBalancer": _PLAIN}),
}
_CUSTOM_RESOURCE_DEFINITION: Final = {
    "spec": _partly({"conversion": _partly({"webhook": _partly({"clientConfig": _CLIENT_CONFIG})}), "names": _PLAIN}),
    "status": _partly({"acceptedNames": _PLAIN, "conditions": _BY_TYPE}),
}
_API_SERVICE: Final = {"spec": _partly({"service": _PLAIN}), "status": _partly({"conditions": _BY_TYPE})}
_WEBHOOK: Final = _partly(
    {
        "clientConfig": _CLIENT_CONFIG,
        "matchConditions": keyed_list(_PLAIN, "name"),
        "namespaceSelector": _UNIT,
        "objectSelector": _UNIT,
    }
)
_FIELDS: Final[Mapping[tuple[str, str], Mapping[str, Shape]]] = {
    ("", "Namespace"): _NAMESPACE,
    ("", "Secret"): {"data": STRING_MAP, "stringData": STRING_MAP},
    ("", "ConfigMap"): {"data": STRING_MAP, "binaryData": STRING_MAP},
    ("", "Event"): _EVENT,
    ("", "Service"): _SERVICE,
    ("", "ServiceAccount"): {"secrets": keyed_list(_UNIT, "name")},
    ("events.k8s.io", "Event"): _EVENT,
    ("coordination.k8s.io", "Lease"): {"spec": _PLAIN},
    ("discovery.k8s.io", "EndpointSlice"): {},
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _CUSTOM_RESOURCE_DEFINITION,
    ("apiregistration.k8s.io", "APIService"): _API_SERVICE,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): {"webhooks": keyed_list(_WEBHOOK, "name")},
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
