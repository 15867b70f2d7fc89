"""What every API object has: its key, its metadata, and a reference to it. Never looks below `metadata`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from kube.resource import ResourceRef

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class ObjectKey(NamedTuple):
    """Identity of an object inside one resource; `namespace` is empty for cluster-scoped objects."""

    namespace: str
    name: str

    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> ObjectKey:
        """Key of a manifest. Raises ValueError when it has no name."""
        metadata = _metadata(obj)
        return cls(metadata.get("namespace") or "", metadata["name"])

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class ObjectMeta:
    """The part of `metadata` that controllers reason about; timestamps are RFC 3339 text as the API server wrote it."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: Mapping[str, str] = field(default_factory=lambda: _NONE, hash=False)
    annotations: Mapping[str, str] = field(default_factory=lambda: _NONE, hash=False)
    finalizers: tuple[str, ...] = ()
    deletion_timestamp: str | None = None
    creation_timestamp: str = ""
    owner_uids: tuple[str, ...] = ()
    key: ObjectKey = field(init=False, repr=False, compare=False)
    """Identity of the object inside its resource."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", ObjectKey(self.namespace, self.name))

    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> ObjectMeta:
        """Metadata of a manifest; absent fields take the API's zero values. Raises ValueError when it has no name."""
        metadata = _metadata(obj)
        get = metadata.get
        return cls(
            name=metadata["name"],
            namespace=get("namespace") or "",
            uid=get("uid") or "",
            resource_version=get("resourceVersion") or "",
            generation=get("generation") or 0,
            labels=get("labels") or _NONE,
            annotations=get("annotations") or _NONE,
            finalizers=tuple(get("finalizers") or ()),
            deletion_timestamp=get("deletionTimestamp"),
            creation_timestamp=get("creationTimestamp") or "",
            owner_uids=tuple(owner["uid"] for owner in get("ownerReferences") or ()),
        )

    @property
    def deleting(self) -> bool:
        """Whether the API server waits for finalizers before the object goes."""
        return self.deletion_timestamp is not None


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """Points at one object from another one: core/v1 ObjectReference."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""

    @classmethod
    def of(cls, ref: ResourceRef, meta: ObjectMeta) -> ObjectReference:
        """Reference to the object with this metadata."""
        return cls(ref.api_version, ref.kind, meta.namespace, meta.name, meta.uid)

    def dump(self) -> dict[str, str]:
        """The manifest form, without empty fields."""
        named = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
        }
        return {name: value for name, value in named.items() if value}


def _metadata(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = obj.get("metadata")
    if not isinstance(metadata, Mapping):
        raise ValueError(f"metadata: found {type(metadata).__name__}, an object is required")
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"metadata.name: found {name!r}, a non-empty string is required")
    return metadata
