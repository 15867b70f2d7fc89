"""What a Gateway publishes with its routes. Pure: objects in, hostnames and targets out."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from controllers.api.endpoint import ENDPOINT_GROUP, MANAGED_BY_LABEL, RETIREMENT_ANNOTATION, EndpointReason
from controllers.api.reference import selects
from controllers.apps.endpoint.plan import digested_name
from controllers.apps.gateway.hostname import in_common
from controllers.apps.gateway.kind import HTTP_PROTOCOLS, Gateway, HttpRoute, Listener, ParentRef
from controllers.apps.gateway.standing import GRACE_S, Judgement, Standing, judge_route
from controllers.apps.hostname_list import Hostnames, sort_out
from controllers.apps.left_out import LIMIT, LeftOut, in_turns
from controllers.apps.source import Endpoint
from controllers.apps.target import Targets
from kube.object import ObjectKey, ObjectMeta

GATEWAY_MANAGER: Final = "dns-api-gateway"
GATEWAY_NAMESPACE_LABEL: Final = f"gateway.{ENDPOINT_GROUP}/gateway-namespace"
GATEWAY_ANNOTATION: Final = f"gateway.{ENDPOINT_GROUP}/gateway"
"""Namespace and name of the Gateway in full: a label's value is too short for some names."""
GATEWAY_NAME_LABEL: Final = f"gateway.{ENDPOINT_GROUP}/gateway-name"

NamespaceLabels = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Published:
    """The endpoint of a Gateway; `again_s` says in how many seconds it changes by itself."""

    endpoint: Endpoint
    again_s: float | None


def endpoint_of(
    gateway: Gateway,
    routes: Iterable[HttpRoute],
    labels: NamespaceLabels,
    published: frozenset[str],
    now: datetime,
    grace_s: float = GRACE_S,
    *,
    blind: bool = False,
) -> Published:
    """Return what a Gateway publishes.

    `published` are the hostnames that it publishes now: those of routes in doubt stay, and all of them while there are routes that
    cannot be read (`blind`). `labels` are those of namespaces.
    """
    good: set[str] = set(published) if blind else set()
    left_out, uninvited = _Objections(), _Objections()
    waits_s = []
    for route in sorted((each for each in routes if not each.meta.deleting), key=lambda each: each.meta.key):
        judgement = judge_route(route, now, grace_s)
        if judgement.again_s is not None:
            waits_s.append(judgement.again_s)
        named = hostnames_at(gateway, route, labels.get(route.meta.namespace))
        # Anybody may name a Gateway in a route: whom no listener lets in is told what there is room for beside the others.
        side = left_out if is_let_in(gateway, route, labels.get(route.meta.namespace)) else uninvited
        side.add(route, _unmatched(gateway, route, named))
        if judgement.standing is Standing.ACCEPTED:
            good |= named
            continue
        if judgement.standing is Standing.IN_DOUBT:
            good |= named & published
        left_out.add(route, [_unaccepted(each, judgement) for each in named])
    hostnames = sort_out(good, left_out.told(good, LIMIT), published)
    others = {each.hostname: each for each in uninvited.told(good, LIMIT - len(hostnames.left_out))}
    hostnames = replace(hostnames, left_out=(*hostnames.left_out, *_without(others, hostnames.left_out)))
    live = not gateway.meta.deleting
    retirement = gateway.meta.annotations.get(RETIREMENT_ANNOTATION)
    endpoint = Endpoint(
        key=endpoint_key(gateway.meta.key),
        labels=labels_of(gateway.meta.key),
        hostnames=hostnames if live else Hostnames(()),
        targets=gateway.addresses if live else Targets(),
        annotations={
            GATEWAY_ANNOTATION: str(gateway.meta.key),
            **({RETIREMENT_ANNOTATION: retirement} if retirement is not None else {}),
        },
    )
    return Published(endpoint, min(waits_s) if waits_s and live else None)


class _Objections:
    """What is left out of routes, by the namespace that they are of; of several objections to one hostname there the last one counts."""

    def __init__(self) -> None:
        self._by_namespace: dict[str, dict[str, LeftOut]] = {}

    def add(self, route: HttpRoute, found: Iterable[LeftOut]) -> None:
        self._by_namespace.setdefault(route.meta.namespace, {}).update((each.hostname, each) for each in found)

    def told(self, good: Container[str], limit: int) -> list[LeftOut]:
        """Return as many as there is room for, of hostnames that are not published."""
        theirs = {
            namespace: [each for each in found.values() if each.hostname not in good]
            for namespace, found in self._by_namespace.items()
        }
        return in_turns(theirs, max(limit, 0))


def _without(found: Mapping[str, LeftOut], known: Iterable[LeftOut]) -> Iterator[LeftOut]:
    names = {each.hostname for each in known}
    yield from (found[name] for name in sorted(found.keys() - names))


def is_let_in(gateway: Gateway, route: HttpRoute, labels: Mapping[str, str] | None) -> bool:
    """Say whether any listener that a route names takes it, whatever its hostnames are."""
    return any(True for _ in _listeners_of(gateway, route, labels))


def hostnames_at(gateway: Gateway, route: HttpRoute, labels: Mapping[str, str] | None) -> set[str]:
    """Return the hostnames under which the Gateway's listeners serve a route, accepted or not."""
    found: set[str] = set()
    for listener in _listeners_of(gateway, route, labels):
        found |= in_common(route.hostnames, listener.hostname)
    return found


def _listeners_of(gateway: Gateway, route: HttpRoute, labels: Mapping[str, str] | None) -> Iterator[Listener]:
    """Yield the listeners that take a route."""
    for parent in route.parents:
        if not parent.is_gateway or parent.key != gateway.meta.key:
            continue
        for listener in gateway.listeners:
            if _is_meant(parent, listener) and _lets_in(listener, gateway, route, labels):
                yield listener


def endpoint_key(gateway: ObjectKey) -> ObjectKey:
    """Return the key of a Gateway's EndpointRecordSet."""
    return ObjectKey(gateway.namespace, digested_name(f"{gateway.namespace}-{gateway.name}", tuple(gateway)))


def labels_of(gateway: ObjectKey) -> dict[str, str]:
    """Return the labels that say whose EndpointRecordSet it is; a longer name than a label's value has is cut."""
    return {
        MANAGED_BY_LABEL: GATEWAY_MANAGER,
        GATEWAY_NAMESPACE_LABEL: gateway.namespace,
        GATEWAY_NAME_LABEL: _label(gateway.name),
    }


def gateway_of(meta: ObjectMeta) -> ObjectKey | None:
    """Return the Gateway that an EndpointRecordSet was made for, None when it was made by somebody else."""
    namespace, _, name = meta.annotations.get(GATEWAY_ANNOTATION, "").partition("/")
    key = ObjectKey(namespace, name)
    return key if name and is_made_for(meta.labels, key) else None


def is_made_for(labels: Mapping[str, str], gateway: ObjectKey) -> bool:
    """Say whether an EndpointRecordSet with these labels was made for a Gateway."""
    return all(labels.get(name) == value for name, value in labels_of(gateway).items())


def _label(name: str) -> str:
    return name if len(name) <= 63 else digested_name(name, (name,))


def _is_meant(parent: ParentRef, listener: Listener) -> bool:
    if parent.section and parent.section != listener.name:
        return False
    return parent.port is None or parent.port == listener.port


def _lets_in(listener: Listener, gateway: Gateway, route: HttpRoute, labels: Mapping[str, str] | None) -> bool:
    if listener.protocol not in HTTP_PROTOCOLS or (listener.kinds and "HTTPRoute" not in listener.kinds):
        return False
    match listener.namespaces:
        case "All":
            return True
        case "Selector":
            return labels is not None and listener.selector is not None and selects(listener.selector, labels)
        case "Same":
            return route.meta.namespace == gateway.meta.namespace
        case _:
            return False


def _unaccepted(hostname: str, judgement: Judgement) -> LeftOut:
    return LeftOut(hostname=hostname, reason=EndpointReason.ROUTE_NOT_ACCEPTED, message=judgement.message)


def _unmatched(gateway: Gateway, route: HttpRoute, named: set[str]) -> list[LeftOut]:
    """Return the hostnames of a route that none of the listeners which take the route has, nor any name below them."""
    message = f"No listener of Gateway {gateway.meta.key} that takes HTTPRoute {route.meta.key} has the hostname."
    return [
        LeftOut(hostname=each, reason=EndpointReason.NO_MATCHING_LISTENER, message=message)
        for each in route.hostnames
        if each and not any(in_common([each], found) for found in named)
    ]
