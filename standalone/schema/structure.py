"""Judges an `openAPIV3Schema` itself: is it structural, and does it use only what Kubernetes supports.

Owns how keywords must go together, worded as the refusal of a CustomResourceDefinition words it. Lists and rules are
judged in `listrule` and `validation`; never looks at objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from standalone.schema.fault import Fault, forbidden, invalid, required
from standalone.schema.keyword import SCHEMA_LISTS, keyword_faults, misshapen, subschemas
from standalone.schema.listrule import list_and_map_faults
from standalone.schema.validationrule import validation_faults

Schema = Mapping[str, Any]


class Level(Enum):
    """Where a schema stands; decides how a missing type is told."""

    ROOT = "at the root"
    ITEM = "for specified array items"
    FIELD = "for specified object fields"


_RESOURCE_FIELDS: Final = ("apiVersion", "kind", "metadata")
_ONLY_OUTSIDE_JUNCTORS: Final = (
    ("type", "must be empty to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)
_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]


def schema_faults(schema: Schema, path: str) -> list[Fault]:
    """Return every fault of a schema, by path and message; empty when objects can be held against it."""
    if faults := misshapen(schema, path):
        return faults
    faults = _position_faults(schema, path, Level.ROOT) + _completeness_faults(schema, path)
    if schema.get("nullable"):
        faults.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    distinct = {fault.message: fault for fault in faults}
    return [distinct[message] for message in sorted(distinct)]


def _position_faults(schema: Schema, path: str, level: Level) -> list[Fault]:
    faults = keyword_faults(schema, path) + _type_faults(schema, path, level)
    faults += list_and_map_faults(schema, path) + validation_faults(schema, path)
    faults += _additional_faults(schema, path, level) + _resource_faults(schema, path, level)
    faults += _junctor_faults(schema, path)
    for name, child in (schema.get("properties") or {}).items():
        below = f"{path}.properties[{name}]"
        if level is Level.ROOT and name in _RESOURCE_FIELDS:
            faults += _default_bans(child, below, f"must not be set in top-level {name}")
        faults += _position_faults(child, below, Level.FIELD)
    if schema.get("items") is not None:
        faults += _position_faults(schema["items"], f"{path}.items", Level.ITEM)
    if isinstance(schema.get("additionalProperties"), Mapping):
        faults += _position_faults(schema["additionalProperties"], f"{path}.additionalProperties", Level.FIELD)
    return faults


def _default_bans(schema: Schema, path: str, detail: str) -> list[Fault]:
    here = [] if schema.get("default") is None else [forbidden(f"{path}.default", detail)]
    return here + [fault for child, below in subschemas(schema, path) for fault in _default_bans(child, below, detail)]


def _type_faults(schema: Schema, path: str, level: Level) -> list[Fault]:
    kind = schema.get("type") or ""
    faults = []
    if schema.get("x-kubernetes-embedded-resource"):
        detail = "must be object if x-kubernetes-embedded-resource is true"
        if not kind:
            faults.append(required(f"{path}.type", detail))
        elif kind != "object":
            faults.append(invalid(f"{path}.type", kind, detail))
    elif not kind and not _any_type_allowed(schema):
        faults.append(required(f"{path}.type", f"must not be empty {level.value}"))
    if level is Level.ROOT and kind and kind != "object":
        faults.append(invalid(f"{path}.type", kind, "must be object at the root"))
    if kind == "array" and schema.get("items") is None:
        faults.append(required(f"{path}.items", "must be specified"))
    if schema.get("x-kubernetes-int-or-string"):
        detail = "must be false if x-kubernetes-int-or-string is true"
        names = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource")
        faults.extend(invalid(f"{path}.{name}", True, detail) for name in names if schema.get(name))
    return faults


def _any_type_allowed(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields"))


def _additional_faults(schema: Schema, path: str, level: Level) -> list[Fault]:
    additional = schema.get("additionalProperties")
    if additional is None:
        return []
    below = f"{path}.additionalProperties"
    faults = []
    if level is Level.ROOT:
        faults.append(forbidden(below, "must not be used at the root"))
    if schema.get("properties") and additional is not True:
        faults.append(forbidden(below, "additionalProperties and properties are mutual exclusive"))
    if schema.get("x-kubernetes-embedded-resource"):
        faults.append(forbidden(below, "must not be used if x-kubernetes-embedded-resource is set"))
    return faults


def _resource_faults(schema: Schema, path: str, level: Level) -> list[Fault]:
    """What a whole object, or an embedded one, says of apiVersion, kind and metadata."""
    properties = schema.get("properties") or {}
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    faults = []
    if embedded and not schema.get("x-kubernetes-preserve-unknown-fields") and not properties:
        detail = (
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        )
        faults.append(required(f"{path}.properties", detail))
    if level is not Level.ROOT and not embedded:
        return faults
    for name, kind in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
        child = properties.get(name)
        if child is not None and child.get("type") != kind:
            found = child.get("type") or ""
            faults.append(invalid(f"{path}.properties[{name}].type", found, f"must be {kind}"))
    metadata = properties.get("metadata")
    if level is Level.ROOT and metadata is not None and not _says_only_names(metadata):
        detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        faults.append(forbidden(f"{path}.properties[metadata]", detail))
    return faults


def _says_only_names(metadata: Schema) -> bool:
    said = {name for name, value in metadata.items() if value not in (None, "", [], {}, False)}
    names = set(metadata.get("properties") or {})
    return (
        said <= {"type", "default", "properties", "description"}
        and names <= {"name", "generateName"}
        and ("description" not in said)
    )


def _junctor_faults(schema: Schema, path: str) -> list[Fault]:
    """Inside allOf, anyOf, oneOf and not, only values are judged: structure belongs outside."""
    faults: list[Fault] = []
    for keyword in SCHEMA_LISTS:
        choices = schema.get(keyword) or ()
        if keyword == "anyOf" and list(choices) == _INT_OR_STRING:
            continue
        for index, child in enumerate(choices):
            types_allowed = keyword == "allOf" and index == 0
            faults += _nested_faults(child, f"{path}.{keyword}[{index}]", any_of_types_allowed=types_allowed)
    if schema.get("not") is not None:
        faults += _nested_faults(schema["not"], f"{path}.not", any_of_types_allowed=False)
    return faults


def _nested_faults(schema: Schema, path: str, *, any_of_types_allowed: bool) -> list[Fault]:
    faults = [fault for fault in keyword_faults(schema, path) if not fault.field.endswith(".type")]
    faults.extend(forbidden(f"{path}.{name}", detail) for name, detail in _ONLY_OUTSIDE_JUNCTORS if schema.get(name))
    if schema.get("additionalProperties") not in (None, False):
        faults.append(forbidden(f"{path}.additionalProperties", "must be undefined to be structural"))
    properties = schema.get("properties") or {}
    if "metadata" in properties:
        faults.append(forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context"))
    for name, child in properties.items():
        faults += _nested_faults(child, f"{path}.properties[{name}]", any_of_types_allowed=False)
    if schema.get("items") is not None:
        faults += _nested_faults(schema["items"], f"{path}.items", any_of_types_allowed=False)
    if any_of_types_allowed and schema.get("anyOf") == _INT_OR_STRING:
        schema = {name: value for name, value in schema.items() if name != "anyOf"}
    return faults + _junctor_faults(schema, path)


def _completeness_faults(spine: Schema, path: str) -> list[Fault]:
    """Whatever a junctor of the root judges must be specified outside of it, on the spine, too."""
    faults: list[Fault] = []
    for keyword in SCHEMA_LISTS:
        for index, child in enumerate(spine.get(keyword) or ()):
            faults += _unspecified(spine, child, f"{path}.{keyword}[{index}]", path)
    if spine.get("not") is not None:
        faults += _unspecified(spine, spine["not"], f"{path}.not", path)
    return faults


def _unspecified(spine: Schema, nested: Schema, nested_path: str, spine_path: str) -> list[Fault]:
    faults: list[Fault] = []
    because = f"because it is defined in {nested_path}"
    for name, child in (nested.get("properties") or {}).items():
        below = (spine.get("properties") or {}).get(name)
        if below is None:
            faults.append(required(f"{spine_path}.properties[{name}]", f"{because}.properties[{name}]"))
        else:
            faults += _unspecified(
                below, child, f"{nested_path}.properties[{name}]", f"{spine_path}.properties[{name}]"
            )
    if nested.get("items") is not None:
        if spine.get("items") is None:
            faults.append(required(f"{spine_path}.items", f"{because}.items"))
        else:
            faults += _unspecified(spine["items"], nested["items"], f"{nested_path}.items", f"{spine_path}.items")
    for keyword in SCHEMA_LISTS:
        for index, child in enumerate(nested.get(keyword) or ()):
            faults += _unspecified(spine, child, f"{nested_path}.{keyword}[{index}]", spine_path)
    if nested.get("not") is not None:
        faults += _unspecified(spine, nested["not"], f"{nested_path}.not", spine_path)
    return faults
