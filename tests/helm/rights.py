"""What the rendered roles allow to a ServiceAccount, and whether they allow a request (rbac.authorization.k8s.io/v1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Manifest = Mapping[str, Any]
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_OF_THE_CLUSTER: dict[tuple[str | None, str], list[Manifest]] = {
    ("kube-system", "extension-apiserver-authentication-reader"): [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["extension-apiserver-authentication"],
            "verbs": ["get", "list", "watch"],
        }
    ]
}
"""Roles that every cluster has."""


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """One verb on one resource; `namespace` None means everywhere, `name` None any object."""

    group: str
    resource: str
    verb: str
    namespace: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {resource}{name}{f' in {self.namespace}' if self.namespace else ''}"

    def covers(self, asked: Right) -> bool:
        """Say whether this right allows what is asked."""
        return (
            (self.group, self.resource, self.verb) == (asked.group, asked.resource, asked.verb)
            and self.namespace in (None, asked.namespace)
            and self.name in (None, asked.name)
        )


def rights_of(manifests: Iterable[Manifest], account: str) -> frozenset[Right]:
    """Return everything that the bindings give to a ServiceAccount."""
    return frozenset(_rights(list(manifests), account))


def _rights(manifests: list[Manifest], account: str) -> Iterator[Right]:
    for binding in manifests:
        if not binding["kind"].endswith("RoleBinding") or account not in {each["name"] for each in binding["subjects"]}:
            continue
        namespace = binding["metadata"].get("namespace")
        reference = binding["roleRef"]
        for rule in _rules(manifests, reference, namespace):
            yield from (
                Right(group, resource, verb, namespace, name)
                for group in rule["apiGroups"]
                for resource in rule["resources"]
                for verb in rule["verbs"]
                for name in rule.get("resourceNames", [None])
            )


def _rules(manifests: list[Manifest], reference: Manifest, namespace: str | None) -> list[Manifest]:
    if (namespace, reference["name"]) in _OF_THE_CLUSTER:
        return _OF_THE_CLUSTER[namespace, reference["name"]]
    (role,) = (
        each
        for each in manifests
        if (each["kind"], each["metadata"]["name"], each["metadata"].get("namespace"))
        == (reference["kind"], reference["name"], namespace)
    )
    rules: list[Manifest] = role["rules"]
    return rules


def right_needed(method: str, target: str) -> Right | None:
    """Return what a request needs; None for discovery, which everybody may read."""
    address = urlsplit(target)
    words = [unquote(each) for each in address.path.strip("/").split("/")]
    if words[0] == "api" and len(words) > 2:
        group, words = "", words[2:]
    elif words[0] == "apis" and len(words) > 3:
        group, words = words[1], words[3:]
    else:
        return None
    namespace = None
    if words[0] == "namespaces" and len(words) > 2:
        namespace, words = words[1], words[2:]
    resource, name = words[0], words[1] if len(words) > 1 else None
    if len(words) > 2:
        resource = f"{resource}/{words[2]}"
    verb = _verb(method, name, address.query)
    return Right(group, resource, verb, namespace, name or _selected(address.query))


def _selected(query: str) -> str | None:
    """Return the one object that a field selector leaves: authorizers take it for the name."""
    for selector in parse_qs(query).get("fieldSelector", []):
        if selector.startswith("metadata.name="):
            return selector.removeprefix("metadata.name=")
    return None


def _verb(method: str, name: str | None, query: str) -> str:
    if method == "DELETE":
        return "delete" if name else "deletecollection"
    if method != "GET":
        return _VERBS[method]
    if name:
        return "get"
    return "watch" if "watch=" in query else "list"
