"""What every verb works with: the store, the served resources, admission and the clock.

Owns nothing but the bundle and the small steps that several verbs share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from standalone.apiserver.admission import Admission
from standalone.apiserver.frame import FrameCache
from standalone.apiserver.kinds.builtin import CUSTOM_RESOURCE_DEFINITION, NAMESPACE
from standalone.apiserver.kinds.kind import CUSTOM, PLAIN, Kind, Writing
from standalone.apiserver.kinds.special import SPECIAL
from standalone.apiserver.status import ApiError, forbidden, not_found
from standalone.apiserver.target import Target
from standalone.apiserver.turn import Aside
from standalone.registry import Registry
from standalone.resource import Resource
from standalone.store.record import Key, Record
from standalone.store.store import Store

JsonObject = dict[str, Any]
Result = TypeVar("Result")


def utc_now() -> str:
    """The present second in RFC 3339, as meta/v1 Time is written."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Api:
    """The parts of a running API server that verbs and clean-up share."""

    store: Store
    registry: Registry
    admission: Admission = field(default_factory=Admission)
    now: Callable[[], str] = utc_now
    frames: FrameCache = field(default_factory=FrameCache)
    aside: Aside = field(default_factory=Aside)
    aside_long: Aside = field(default_factory=Aside)
    """For kinds whose rules may take seconds, so that large objects of others need not wait for them."""

    def kind(self, resource: Resource) -> Kind:
        """What is special about a resource's kind."""
        return CUSTOM if resource.custom else SPECIAL.get(resource.storage_key, PLAIN)

    async def judged(self, target: Target, size_bytes: int, work: Callable[[], Result]) -> Result:
        """Do what a write of an object of `size_bytes` needs before it is admitted, beside the event loop when it may take long."""
        resource = target.resource
        schema = self.registry.schema(resource)
        if resource == CUSTOM_RESOURCE_DEFINITION or (schema is not None and schema.may_take_long):
            return await self.aside_long.run_apart(work)
        return await self.aside.run(size_bytes, work)

    def writing(self, obj: JsonObject, old: JsonObject | None, subresource: str = "") -> Writing:
        """A write as a kind's hooks see it."""
        return Writing(obj, old, self.registry, self.now(), subresource)

    def check_namespace(self, target: Target) -> None:
        """Refuse content for a namespace that is missing (404) or terminating (403). Raises ApiError."""
        if not target.namespace:
            return
        record = self.store.get(Key(*NAMESPACE.storage_key, "", target.namespace))
        if record is None:
            raise not_found(NAMESPACE, target.namespace)
        if record.terminating:
            raise _terminating(target)

    def check_definition(self, target: Target) -> None:
        """Refuse new objects of a kind whose definition is being deleted (403). Raises ApiError."""
        if not target.resource.custom:
            return
        definition = self.registry.definition(target.resource)
        if definition is None or "deletionTimestamp" in definition["metadata"]:
            why = "create not allowed while custom resource definition is terminating"
            raise forbidden(target.resource, target.name, why)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a write came to: the HTTP code, the object as it is now, and warnings for the client."""

    code: int
    obj: JsonObject
    record: Record | None = None
    """The stored form of `obj` when it is stored; its bytes can be sent as they are."""
    warnings: tuple[str, ...] = ()


def _terminating(target: Target) -> ApiError:
    namespace = target.namespace
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    return forbidden(target.resource, target.name, why, [cause])
