"""Published component schemas: their names, the kind and list a resource contributes, and the shared meta types.

Owns the step from a resource's own schema to the schema that clients read. Never mentions paths or operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from standalone.openapi.builtin import META_DOCUMENT, builtin_schema, document
from standalone.resource import Resource

META_PREFIX = "io.k8s.apimachinery.pkg.apis.meta.v1."
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"

_API_VERSION = {
    "type": "string",
    "description": "The versioned schema that this object follows, as GROUP/VERSION; plain VERSION in the core group.",
}
_KIND = {"type": "string", "description": "The type of this object, in CamelCase. It cannot be changed."}
_ANY_CONTENT: Mapping[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def reference(name: str) -> dict[str, str]:
    """A `$ref` to a component by its full name."""
    return {"$ref": f"#/components/schemas/{name}"}


def component_name(resource: Resource, kind: str) -> str:
    """The name of a kind's component, e.g. `com.example.stable.v1.CronTab`; unique over all groups and versions."""
    group = resource.group
    if resource.custom:
        prefix = ".".join(reversed(group.split(".")))
    elif not group:
        prefix = "io.k8s.api.core"
    else:
        prefix = f"io.k8s.api.{group.split('.')[0]}"
    return f"{prefix}.{resource.version}.{kind}"


def resource_components(resource: Resource) -> dict[str, dict[str, Any]]:
    """The components of one resource: its kind, and its list kind when it can be listed."""
    name = component_name(resource, resource.kind)
    components = {name: _kind_schema(resource)}
    if "list" in resource.verbs:
        components[component_name(resource, resource.list_kind)] = _list_schema(resource, name)
    return components


def meta_components() -> Mapping[str, Mapping[str, Any]]:
    """The types of meta.k8s.io/v1 that every document refers to, by full component name."""
    return document(META_DOCUMENT)


def own_schema(resource: Resource) -> Mapping[str, Any]:
    """The resource's own root schema; ours for a built-in kind that carries none, and any content when nobody knows."""
    if resource.schema is not None:
        return resource.schema
    described = None if resource.custom else builtin_schema(resource.group, resource.version, resource.kind)
    return _ANY_CONTENT if described is None else described


def _with_int_or_string(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Built-in kinds refer to the shared type, by which clients print its name; custom kinds keep the extension."""
    if schema.get("x-kubernetes-int-or-string"):
        return {"description": schema.get("description", ""), "allOf": [reference(_INT_OR_STRING)]}
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: _with_int_or_string(each) for name, each in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        result["items"] = _with_int_or_string(schema["items"])
    return result


def _kind_schema(resource: Resource) -> dict[str, Any]:
    schema = own_schema(resource) if resource.custom else _with_int_or_string(own_schema(resource))
    own = schema.get("properties", {})
    metadata = _metadata(own.get("metadata", {}).get("description", "Standard object metadata."), "ObjectMeta")
    properties = {"apiVersion": _API_VERSION, "kind": _KIND, "metadata": metadata}
    properties |= {name: value for name, value in own.items() if name not in properties}
    return {**schema, "properties": properties, "x-kubernetes-group-version-kind": [_gvk(resource, resource.kind)]}


def _list_schema(resource: Resource, item: str) -> dict[str, Any]:
    items = {"type": "array", "description": f"The {resource.plural} of this page.", "items": reference(item)}
    properties = {
        "apiVersion": _API_VERSION,
        "items": items,
        "kind": _KIND,
        "metadata": _metadata("Standard list metadata.", "ListMeta"),
    }
    return {
        "type": "object",
        "description": f"{resource.list_kind} is a list of {resource.kind}.",
        "required": ["items"],
        "properties": properties,
        "x-kubernetes-group-version-kind": [_gvk(resource, resource.list_kind)],
    }


def _metadata(description: str, meta_type: str) -> dict[str, Any]:
    """A described reference: `$ref` may have no siblings in OpenAPI 3.0, so it stands inside `allOf`."""
    return {"description": description, "allOf": [reference(META_PREFIX + meta_type)]}


def _gvk(resource: Resource, kind: str) -> dict[str, str]:
    return {"group": resource.group, "kind": kind, "version": resource.version}
