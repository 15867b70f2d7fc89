"""What a request is about and who makes it: a served resource, a place in it, and a user.

Plain values shared by all verbs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from standalone.resource import Resource
from standalone.store.record import Key


@dataclass(frozen=True, slots=True)
class Target:
    """One resource, and the object or collection in it; `name` is "" for a collection."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> Key:
        return Key(*self.resource.storage_key, self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class User:
    """An authenticated user as admission sees it (authentication.k8s.io/v1 UserInfo)."""

    name: str
    groups: tuple[str, ...] = field(default=("system:masters", "system:authenticated"))

    @property
    def info(self) -> dict[str, object]:
        return {"username": self.name, "groups": list(self.groups)}


ADMIN = User("system:admin")
NAMESPACE_CONTROLLER = User("system:serviceaccount:kube-system:namespace-controller")
GARBAGE_COLLECTOR = User("system:serviceaccount:kube-system:generic-garbage-collector")
DEFINITION_CONTROLLER = User("system:serviceaccount:kube-system:customresourcedefinition-controller")
