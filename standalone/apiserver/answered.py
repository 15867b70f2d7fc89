"""Resources whose objects are answered at their creation and stored nowhere, as an aggregated API behind an API server would.

Owns the handlers by resource. They get the object and return it with its status; what is wrong with one they say by ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from standalone.apiserver.api import Api, Outcome
from standalone.apiserver.metadata.identity import check_identity
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.shape import shape
from standalone.apiserver.status import invalid, method_not_allowed
from standalone.apiserver.target import Target
from standalone.resource import Resource
from standalone.schema.fault import Fault, FaultKind

JsonObject = dict[str, Any]
Handler = Callable[[Mapping[str, Any]], JsonObject]
Place = tuple[str, str, str]

VERBS = ("create",)


@dataclass(frozen=True, slots=True)
class Answered:
    """The handlers of one API."""

    handlers: dict[Place, Handler] = field(default_factory=dict)

    def register(self, resource: Resource, handler: Handler) -> None:
        """Answer creations of a resource."""
        self.handlers[_place(resource)] = handler

    def has(self, resource: Resource) -> bool:
        return _place(resource) in self.handlers

    def answer(self, api: Api, target: Target, obj: JsonObject, options: WriteOptions) -> Outcome:
        """The object with its status. Raises ApiError 400, 422."""
        resource = target.resource
        warnings = shape(api, target, obj, None, options)
        check_identity(target, obj)
        schema = api.registry.schema(resource)
        faults = schema.validate(obj) if schema is not None else []
        if faults:
            raise invalid(resource, "", faults)
        try:
            answered = self.handlers[_place(resource)](obj)
        except ValueError as error:
            raise invalid(resource, "", [Fault(FaultKind.INVALID, "spec", None, str(error))]) from error
        except KeyError:  # nobody answers it any more
            raise method_not_allowed() from None
        return Outcome(201, answered, None, tuple(warnings))


def _place(resource: Resource) -> Place:
    return resource.group, resource.version, resource.plural
