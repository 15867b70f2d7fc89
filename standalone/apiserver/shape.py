"""Brings a written object into the shape its schema gives it: unknown fields out, defaults in, faults named.

Owns fieldValidation (api-concepts, "Field validation"). Works in place on the proposed object; never stores it.
"""

from __future__ import annotations

from typing import Any

from standalone.apiserver.api import Api
from standalone.apiserver.metadata.identity import type_metadata
from standalone.apiserver.metadata.rule import judge_create, judge_update
from standalone.apiserver.option import FieldValidation, WriteOptions
from standalone.apiserver.status import bad_request, invalid
from standalone.apiserver.target import Target
from standalone.schema.fault import FaultKind
from standalone.schema.structural import StructuralSchema

JsonObject = dict[str, Any]


def shape(api: Api, target: Target, obj: JsonObject, live: JsonObject | None, options: WriteOptions) -> list[str]:
    """Prune and default in place; return warnings about dropped fields. Raises ApiError 400 when those are forbidden.

    Gives `obj` a metadata mapping of its own. Sub-trees shared with `live` are left alone.
    """
    unknown = type_metadata(target, obj)
    schema = api.registry.schema(target.resource)
    if schema is not None:
        unknown += schema.prune(obj, live)
        schema.default(obj, live)
        if not target.resource.custom:
            _check_types(target, schema, obj)
    warnings = [f'duplicate field "{path}"' for path in options.duplicate_fields]
    warnings += [f'unknown field "{path}"' for path in unknown]
    if warnings and options.field_validation is FieldValidation.STRICT:
        kind, version = target.resource.kind, target.resource.version
        errors = ", ".join(warnings)
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {kind}: strict decoding error: {errors}'
        )
    return warnings if options.field_validation is FieldValidation.WARN else []


def _check_types(target: Target, schema: StructuralSchema, obj: JsonObject) -> None:
    """Refuse wrong types in a built-in kind before its own rules, which rely on them, see the object (422)."""
    faults = [fault for fault in schema.validate(obj) if fault.kind is FaultKind.TYPE_INVALID]
    if faults:
        raise invalid(target.resource, obj["metadata"].get("name", ""), faults)


def judge(api: Api, target: Target, obj: JsonObject, live: JsonObject | None) -> None:
    """Raise ApiError 422 with every fault of a finished object: metadata, schema and the kind's own rules."""
    metadata = obj["metadata"]
    faults = judge_create(target, metadata) if live is None else judge_update(metadata, live["metadata"])
    schema = api.registry.schema(target.resource)
    if schema is not None:
        faults.extend(schema.validate(obj, live))
    faults.extend(api.kind(target.resource).judge(api.writing(obj, live)))
    if faults:
        raise invalid(target.resource, target.name, faults)
