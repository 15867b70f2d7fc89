"""The operations of a resource: which paths exist, what may be sent, and which query parameters each verb takes.

Owns the `paths` part of the documents. Clients read three things here: the kind that an operation is about, and
whether PATCH lists `fieldValidation` and `dryRun`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from standalone.openapi.component import META_PREFIX, component_name, reference
from standalone.resource import Resource

_OBJECT_TYPES: tuple[str, ...] = ("application/json", "application/yaml")
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_PATCH_TYPES: tuple[str, ...] = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
_STRATEGIC = "application/strategic-merge-patch+json"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One query parameter: its schema type and what it does."""

    name: str
    type: str
    description: str

    def document(self) -> dict[str, Any]:
        schema = {"type": self.type, "uniqueItems": True}
        return {"name": self.name, "in": "query", "description": self.description, "schema": schema}


@dataclass(frozen=True, slots=True)
class Action:
    """An HTTP method on a path: the resource verb that allows it and the action name clients know."""

    method: str
    verb: str
    name: str
    parameters: tuple[Parameter, ...]


_DRY_RUN = Parameter("dryRun", "string", "All: do everything except keeping the result.")
_MANAGER = Parameter("fieldManager", "string", "The name under which the changed fields are owned.")
_VALIDATION = Parameter(
    "fieldValidation", "string", "Ignore, Warn or Strict: what happens to unknown and duplicate fields."
)
_FORCE = Parameter("force", "boolean", "Take over fields that other managers own; for apply patches only.")
_VERSION = Parameter("resourceVersion", "string", "The state of the data that the answer may or must be of.")
_SELECTION = (
    Parameter("labelSelector", "string", "Keep only the objects whose labels match."),
    Parameter("fieldSelector", "string", "Keep only the objects whose fields match."),
    _VERSION,
    Parameter("resourceVersionMatch", "string", "Exact or NotOlderThan: how resourceVersion is meant."),
    Parameter("limit", "integer", "The largest number of objects in one answer."),
    Parameter("continue", "string", "The token of the answer before, for the next page."),
    Parameter("timeoutSeconds", "integer", "End the call after this many seconds."),
)
_WATCH = (
    Parameter("watch", "boolean", "Stream the changes instead of answering with a list."),
    Parameter("allowWatchBookmarks", "boolean", "Let the server send BOOKMARK events."),
    Parameter("sendInitialEvents", "boolean", "Begin the stream with the present objects and a bookmark."),
)
_DELETION = (
    Parameter("gracePeriodSeconds", "integer", "Seconds until the object is gone; zero means at once."),
    Parameter("propagationPolicy", "string", "Orphan, Background or Foreground: what happens to dependents."),
    Parameter("orphanDependents", "boolean", "Older form of propagationPolicy."),
)

_LIST = Action("get", "list", "list", (*_SELECTION, *_WATCH))
_COLLECTION = (
    _LIST,
    Action("post", "create", "post", (_DRY_RUN, _MANAGER, _VALIDATION)),
    Action("delete", "deletecollection", "deletecollection", (_DRY_RUN, *_SELECTION, *_DELETION)),
)
_CHANGES = (
    Action("put", "update", "put", (_DRY_RUN, _MANAGER, _VALIDATION)),
    Action("patch", "patch", "patch", (_DRY_RUN, _MANAGER, _VALIDATION, _FORCE)),
)
_ITEM = (
    Action("get", "get", "get", (_VERSION,)),
    *_CHANGES,
    Action("delete", "delete", "delete", (_DRY_RUN, *_DELETION)),
)
_STATUS = (Action("get", "get", "get", (_VERSION,)), *_CHANGES)


def resource_paths(resource: Resource) -> dict[str, dict[str, Any]]:
    """The path items of one resource, keyed by path template."""
    items = {path: _path_item(resource, path, actions) for path, actions in _templates(resource)}
    return {path: item for path, item in items.items() if item is not None}


def _templates(resource: Resource) -> Iterator[tuple[str, tuple[Action, ...]]]:
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    scope = f"{root}/namespaces/{{namespace}}" if resource.namespaced else root
    if resource.namespaced:
        yield f"{root}/{resource.plural}", (_LIST,)
    yield f"{scope}/{resource.plural}", _COLLECTION
    yield f"{scope}/{resource.plural}/{{name}}", _ITEM
    if resource.has_status:
        yield f"{scope}/{resource.plural}/{{name}}/status", _STATUS


def _path_item(resource: Resource, path: str, actions: tuple[Action, ...]) -> dict[str, Any] | None:
    served = {action.method: _operation(resource, path, action) for action in actions if action.verb in resource.verbs}
    if not served:
        return None
    return {**served, "parameters": [_path_parameter(name) for name in ("name", "namespace") if f"{{{name}}}" in path]}


def _operation(resource: Resource, path: str, action: Action) -> dict[str, Any]:
    kind = reference(component_name(resource, resource.kind))
    answer = reference(component_name(resource, resource.list_kind)) if action is _LIST else kind
    if action.name.startswith("delete"):
        answer = reference(f"{META_PREFIX}Status")
    operation: dict[str, Any] = {
        "tags": [_camel(resource)],
        "description": f"{action.verb} {resource.kind}",
        "operationId": _operation_id(resource, path, action),
        "parameters": [parameter.document() for parameter in action.parameters],
        "responses": {
            "201" if action.method == "post" else "200": {
                "description": "OK",
                "content": {"application/json": {"schema": answer}},
            },
            "401": {"description": "Unauthorized"},
        },
        "x-kubernetes-action": action.name,
        "x-kubernetes-group-version-kind": {
            "group": resource.group,
            "kind": resource.kind,
            "version": resource.version,
        },
    }
    if (body := _body(resource, action, kind)) is not None:
        operation["requestBody"] = body
    return operation


def _body(resource: Resource, action: Action, kind: dict[str, str]) -> dict[str, Any] | None:
    if action.method == "get":
        return None
    if action.method == "patch":
        types = _PATCH_TYPES if resource.custom else (*_PATCH_TYPES, _STRATEGIC)
        return {"required": True, "content": _content(types, reference(f"{META_PREFIX}Patch"))}
    types = _OBJECT_TYPES if resource.custom else (*_OBJECT_TYPES, _PROTOBUF)
    if action.method == "delete":
        return {"content": _content(types, reference(f"{META_PREFIX}DeleteOptions"))}
    return {"required": True, "content": _content(types, kind)}


def _content(types: tuple[str, ...], schema: dict[str, str]) -> dict[str, Any]:
    return {media_type: {"schema": schema} for media_type in types}


def _path_parameter(name: str) -> dict[str, Any]:
    meaning = "The name of the object." if name == "name" else "The namespace of the object."
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": meaning,
        "schema": {"type": "string", "uniqueItems": True},
    }


def _operation_id(resource: Resource, path: str, action: Action) -> str:
    """Unique in a document: the action, the group version, the scope and the kind, e.g. `listCoreV1NamespacedSecret`."""
    verb = {"get": "read", "post": "create", "put": "replace", "deletecollection": "delete"}
    head = verb.get(action.name, action.name)
    scope = "Collection" if action.name == "deletecollection" else ""
    scope += "Namespaced" if "{namespace}" in path else ""
    tail = "Status" if path.endswith("/status") else "ForAllNamespaces" if resource.namespaced and not scope else ""
    camel = _camel(resource)
    return f"{head}{camel[0].upper()}{camel[1:]}{scope}{resource.kind}{tail}"


def _camel(resource: Resource) -> str:
    group = resource.group.split(".")[0] if resource.group and not resource.custom else resource.group or "core"
    first, *rest = [part for part in group.replace("-", ".").split(".") if part]
    version = f"{resource.version[0].upper()}{resource.version[1:]}"
    return first + "".join(part.capitalize() for part in rest) + version
