"""Brings a written object into the shape its schema gives it: unknown fields out, defaults in, faults named.

Owns fieldValidation (api-concepts, "Field validation"). Works in place on the proposed object; never stores it.
"""

from __future__ import annotations

from typing import Any

from standalone.apiserver.api import Api
from standalone.apiserver.metadata import judge_create, judge_update
from standalone.apiserver.option import FieldValidation, WriteOptions
from standalone.apiserver.status import bad_request, invalid
from standalone.apiserver.target import Target

JsonObject = dict[str, Any]


def shape(api: Api, target: Target, obj: JsonObject, live: JsonObject | None, options: WriteOptions) -> list[str]:
    """Prune and default in place; return warnings about dropped fields. Raises ApiError 400 when those are forbidden."""
    schema = api.registry.schema(target.resource)
    if schema is None:
        return []
    dropped = [f'unknown field "{path}"' for path in schema.prune(obj, live)]
    if dropped and options.field_validation is FieldValidation.STRICT:
        resource = target.resource
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f"strict decoding error: {', '.join(dropped)}"
        )
    schema.default(obj, live)
    return dropped if options.field_validation is FieldValidation.WARN else []


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
