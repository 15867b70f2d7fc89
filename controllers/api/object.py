"""Objects of the core kinds as the controllers hold them: metadata, spec and status, all frozen.

Owns parsing only. Never keeps managedFields or anything else that no controller reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kube.object import ObjectKey, ObjectMeta
from zonemodel.model import Model

SpecT = TypeVar("SpecT", bound=Model)
StatusT = TypeVar("StatusT", bound=Model)


@dataclass(frozen=True, slots=True)
class ApiObject(Generic[SpecT, StatusT]):
    """One object of a kind."""

    meta: ObjectMeta
    spec: SpecT
    status: StatusT

    @property
    def key(self) -> ObjectKey:
        return self.meta.key

    @property
    def deleting(self) -> bool:
        return self.meta.deleting


def parser(
    spec_type: type[SpecT], status_type: type[StatusT]
) -> Callable[[Mapping[str, Any]], ApiObject[SpecT, StatusT]]:
    """Return the function that parses API JSON of a kind; it raises ValueError (pydantic's) on a shape it cannot hold."""

    def parse(obj: Mapping[str, Any]) -> ApiObject[SpecT, StatusT]:
        return ApiObject(
            ObjectMeta.parse(obj),
            spec_type.model_validate(obj.get("spec") or {}),
            status_type.model_validate(obj.get("status") or {}),
        )

    return parse
