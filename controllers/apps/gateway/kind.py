"""Gateways and HTTPRoutes (gateway.networking.k8s.io/v1) as far as they count here. Owns parsing only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.api.reference import LabelSelector
from controllers.apps.target import Targets, read_targets
from kube.object import ObjectKey, ObjectMeta
from kube.resource import ResourceRef

GATEWAY_API_GROUP: Final = "gateway.networking.k8s.io"
GATEWAYS: Final = ResourceRef(GATEWAY_API_GROUP, "v1", "gateways", "Gateway")
HTTP_ROUTES: Final = ResourceRef(GATEWAY_API_GROUP, "v1", "httproutes", "HTTPRoute")
HTTP_PROTOCOLS: Final = frozenset({"HTTP", "HTTPS"})


@dataclass(frozen=True, slots=True)
class Listener:
    """One listener; `namespaces` is Same, All, Selector or None of allowedRoutes, `kinds` the allowed ones, empty for the usual."""

    name: str
    hostname: str
    port: int
    protocol: str
    namespaces: str
    selector: LabelSelector | None
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gateway:
    """One Gateway."""

    meta: ObjectMeta
    listeners: tuple[Listener, ...]
    addresses: Targets


@dataclass(frozen=True, slots=True)
class ParentRef:
    """What a route attaches to, with its defaults filled in."""

    group: str
    kind: str
    key: ObjectKey
    section: str
    port: int | None

    @property
    def is_gateway(self) -> bool:
        return self.group == GATEWAY_API_GROUP and self.kind == "Gateway"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a controller says of a route at a parent; `since` is when it last changed its mind (RFC 3339)."""

    ref: ParentRef
    status: str
    reason: str
    observed_generation: int | None
    since: str


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """One HTTPRoute."""

    meta: ObjectMeta
    hostnames: tuple[str, ...]
    parents: tuple[ParentRef, ...]
    acceptances: tuple[Acceptance, ...]


def parse_gateway(obj: Mapping[str, Any]) -> Gateway:
    """Parse API JSON. Raises ValueError, KeyError for what is no Gateway."""
    listeners = (obj.get("spec") or {}).get("listeners") or ()
    addresses = (obj.get("status") or {}).get("addresses") or ()
    return Gateway(ObjectMeta.parse(obj), tuple(map(_listener, listeners)), _targets(addresses))


def parse_http_route(obj: Mapping[str, Any]) -> HttpRoute:
    """Parse API JSON. Raises ValueError, KeyError for what is no HTTPRoute."""
    meta = ObjectMeta.parse(obj)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    return HttpRoute(
        meta,
        tuple(spec.get("hostnames") or ()),
        tuple(_parent_ref(each, meta.namespace) for each in spec.get("parentRefs") or ()),
        tuple(found for each in status.get("parents") or () for found in _acceptances(each, meta.namespace)),
    )


def _listener(listener: Mapping[str, Any]) -> Listener:
    allowed = listener.get("allowedRoutes") or {}
    namespaces = allowed.get("namespaces") or {}
    selector = namespaces.get("selector")
    return Listener(
        name=listener["name"],
        hostname=listener.get("hostname") or "",
        port=int(listener["port"]),
        protocol=listener.get("protocol") or "",
        namespaces=namespaces.get("from") or "Same",
        selector=LabelSelector.model_validate(selector) if selector is not None else None,
        kinds=tuple(each["kind"] for each in allowed.get("kinds") or ()),
    )


def _parent_ref(ref: Mapping[str, Any], namespace: str) -> ParentRef:
    port = ref.get("port")
    return ParentRef(
        group=ref.get("group", GATEWAY_API_GROUP),
        kind=ref.get("kind", "Gateway"),
        key=ObjectKey(ref.get("namespace") or namespace, ref["name"]),
        section=ref.get("sectionName") or "",
        port=int(port) if port is not None else None,
    )


def _acceptances(parent: Mapping[str, Any], namespace: str) -> Iterator[Acceptance]:
    ref = _parent_ref(parent["parentRef"], namespace)
    for each in parent.get("conditions") or ():
        if each.get("type") == "Accepted":
            yield Acceptance(
                ref,
                str(each.get("status", "")),
                str(each.get("reason", "")),
                each.get("observedGeneration"),
                str(each.get("lastTransitionTime", "")),
            )


def _targets(addresses: Iterable[Mapping[str, Any]]) -> Targets:
    found = [(each.get("type") or "IPAddress", str(each["value"])) for each in addresses]
    return read_targets(
        (value for kind, value in found if kind == "IPAddress"), (value for kind, value in found if kind == "Hostname")
    )
