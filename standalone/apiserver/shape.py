"""Brings a written object into the shape its schema gives it: unknown fields out, defaults in, faults named.

Owns fieldValidation (api-concepts, "Field validation"). Works in place on the proposed object; never stores it.
"""

from __future__ import annotations

from typing import Any

from standalone.apiserver.api import Api
from standalone.apiserver.kinds.decoding import read
from standalone.apiserver.metadata.advice import advise
from standalone.apiserver.metadata.identity import type_metadata
from standalone.apiserver.metadata.rule import judge_create, judge_update
from standalone.apiserver.option import FieldValidation, WriteOptions
from standalone.apiserver.status import bad_request, invalid
from standalone.apiserver.target import Target
from standalone.schema.fault import Fault, FaultKind
from standalone.schema.structural import StructuralSchema

JsonObject = dict[str, Any]


def shape(api: Api, target: Target, obj: JsonObject, live: JsonObject | None, options: WriteOptions) -> list[str]:
    """Prune and default in place; return warnings about dropped fields. Raises ApiError 400 when those are forbidden.

    Gives `obj` a metadata mapping of its own. Sub-trees shared with `live` are left alone.
    """
    unknown = type_metadata(target, obj)
    advice = advise(target.resource, obj["metadata"], live["metadata"] if live is not None else {})
    schema = api.registry.schema(target.resource)
    if schema is not None:
        unknown += schema.prune(obj, live)
        faults = [] if target.resource.custom else _read_built_in(schema, obj)
        schema.default(obj, live)  # which drops nulls: in a built-in kind they are of any type
        if not target.resource.custom:
            _check_types(target, schema, obj, faults)
    warnings = [f'duplicate field "{path}"' for path in options.duplicate_fields]
    warnings += [f'unknown field "{path}"' for path in unknown]
    if warnings and options.field_validation is FieldValidation.STRICT:
        kind, version = target.resource.kind, target.resource.version
        errors = ", ".join(warnings)
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {kind}: strict decoding error: {errors}'
        )
    return [*(warnings if options.field_validation is FieldValidation.WARN else []), *advice]


def _read_built_in(schema: StructuralSchema, obj: JsonObject) -> list[Fault]:
    """Read a built-in kind as the API's own decoder does, in place; return what it cannot read."""
    faults: list[Fault] = []
    members = read(schema.root, {name: value for name, value in obj.items() if name != "metadata"}, "", faults)
    obj.update(members)
    return faults


def _check_types(target: Target, schema: StructuralSchema, obj: JsonObject, unread: list[Fault]) -> None:
    """Refuse what could not be read, and wrong types, before the kind's rules, which rely on them (400)."""
    faults = unread + [fault for fault in schema.validate(obj) if fault.kind is FaultKind.TYPE_INVALID]
    if faults:
        kind, why = target.resource.kind, "; ".join(fault.message for fault in faults)
        raise bad_request(f'{kind} in version "{target.resource.version}" cannot be handled as a {kind}: {why}')


def judge(api: Api, target: Target, obj: JsonObject, live: JsonObject | None) -> None:
    """Raise ApiError 422 with every fault of a finished object: metadata, schema and the kind's own rules."""
    metadata = obj["metadata"]
    faults = judge_create(target, metadata) if live is None else judge_update(target, metadata, live["metadata"])
    schema = api.registry.schema(target.resource)
    if schema is not None:
        faults.extend(schema.validate(obj, live))
    faults.extend(api.kind(target.resource).judge(api.writing(obj, live)))
    if faults:
        raise invalid(target.resource, target.name, faults)
