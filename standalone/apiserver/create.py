"""The create verb.

Owns the order in which a new object is named, shaped, judged, admitted and stored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from standalone.apiserver.admission import Operation
from standalone.apiserver.api import Api, Outcome
from standalone.apiserver.metadata.identity import prepare_create
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.shape import judge, shape
from standalone.apiserver.status import already_exists, warning
from standalone.apiserver.target import Target, User
from standalone.apiserver.tracking import track

JsonObject = dict[str, Any]


async def create(
    api: Api, target: Target, obj: JsonObject, options: WriteOptions, user: User, *, applied: bool = False
) -> Outcome:
    """Create `obj` in the collection of `target` and answer 201.

    `applied` objects carry their field ownership already (server-side apply). Raises ApiError.
    """
    target, warnings = await api.judged(
        target, options.body_bytes, lambda: _prepared(api, target, obj, options, applied=applied)
    )
    with warning(warnings):
        warnings += await api.admission.review(Operation.CREATE, target, obj, None, options, user)
        async with api.store.locked(target.key) as existing:
            if existing is not None:
                raise already_exists(target.resource, target.name, terminating=existing.terminating)
            if options.dry_run:
                return Outcome(201, obj, None, tuple(warnings))
            api.check_namespace(target)  # it may have begun to terminate while admission was asked
            api.check_definition(target)
            record = await api.store.put(target.key, obj)
    return Outcome(201, obj, record, tuple(warnings))


def _prepared(
    api: Api, target: Target, obj: JsonObject, options: WriteOptions, *, applied: bool
) -> tuple[Target, list[str]]:
    """Name, complete and judge the object in place; return where it goes, and warnings. Raises ApiError."""
    now = api.now()
    warnings = shape(api, target, obj, None, options)
    with warning(warnings):
        name = prepare_create(target, obj, now, lambda each: api.store.get(replace(target, name=each).key) is not None)
        target = replace(target, name=name)
        api.check_namespace(target)
        api.check_definition(target)
        if target.resource.has_status:
            obj.pop("status", None)
        api.kind(target.resource).prepare(api.writing(obj, None))
        if not applied:
            track(api, target, None, obj, options.manager, now)
        judge(api, target, obj, None)
    return target, warnings
