"""The Gateway source: keeps one EndpointRecordSet for each Gateway. Owns event mapping.

A cluster may not have the Gateway API: until both of its resources have been read completely, nothing is decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from controllers.api.endpoint import EndpointRecordSet
from controllers.apps.gateway.kind import (
    GATEWAYS,
    HTTP_ROUTES,
    Gateway,
    HttpRoute,
    parse_gateway,
    parse_http_route,
)
from controllers.apps.gateway.source import (
    GATEWAY_MANAGER,
    endpoint_key,
    endpoint_of,
    gateway_of,
    is_made_for,
)
from controllers.apps.source import EndpointKeeper
from controllers.apps.surroundings import AppSurroundings, AttachedApp
from controllers.runtime.controller import Controller, Requeue
from controllers.runtime.event_map import EventMap
from kube.informer import Informer
from kube.object import ObjectKey, ObjectMeta, ObjectReference
from kube.store import Change

WORKERS: Final = 4
NOT_READ_YET_S: Final = 2.0
GATEWAY_INDEX: Final = "gateway"


def attach(
    surroundings: AppSurroundings,
    endpoints: Informer[EndpointRecordSet],
    grace_s: float,
    no_targets_grace_s: float,
) -> AttachedApp:
    """Attach the source; it shares the cache of EndpointRecordSets."""
    gateways = Informer(surroundings.client, GATEWAYS, parse_gateway)
    routes = Informer(surroundings.client, HTTP_ROUTES, parse_http_route)
    routes.add_index(GATEWAY_INDEX, _gateways_of)

    @contextmanager
    def lead() -> Iterator[Sequence[Controller[Any]]]:
        keeper = EndpointKeeper(surroundings, endpoints, GATEWAY_MANAGER, no_targets_grace_s)
        source = GatewaySource(surroundings, gateways, routes, endpoints, keeper, grace_s)
        try:
            yield (source.controller,)
        finally:
            source.close()

    return AttachedApp(lead, optional=(gateways, routes))


class GatewaySource:
    """One leadership of the source. Its keys are those of EndpointRecordSets' Gateways."""

    def __init__(
        self,
        surroundings: AppSurroundings,
        gateways: Informer[Gateway],
        routes: Informer[HttpRoute],
        endpoints: Informer[EndpointRecordSet],
        keeper: EndpointKeeper,
        grace_s: float,
    ) -> None:
        self._surroundings = surroundings
        self._gateways = gateways
        self._routes = routes
        self._endpoints = endpoints
        self._grace_s = grace_s
        self._keeper = keeper
        self.controller: Controller[ObjectKey] = Controller(
            "endpoint-gateway", self.reconcile, workers=WORKERS, settle_s=1.0
        )
        self._events = EventMap()
        self._events.follow(gateways, lambda change: (change.key,), self.controller)
        self._events.follow(routes, _for_route, self.controller)
        self._events.follow(endpoints, self._for_endpoint, self.controller)
        self._events.follow(surroundings.namespaces, self._for_namespace, self.controller)

    def close(self) -> None:
        """Stop following the caches."""
        self._events.close()

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Make the EndpointRecordSet of one Gateway as the Gateway and its routes have it."""
        if not (self._gateways.synced.is_set() and self._routes.synced.is_set()):
            return Requeue(NOT_READ_YET_S)
        gateway = self._gateways.get(key)
        there = self._endpoints.get(endpoint_key(key))
        if gateway is None:
            if key not in self._gateways.undecodable and there is not None and is_made_for(there.meta.labels, key):
                await self._keeper.remove(there)
            return None
        published = endpoint_of(
            gateway,
            self._routes.by_index(GATEWAY_INDEX, key),
            {name.name: meta.labels for name, meta in self._surroundings.namespaces.items()},
            frozenset(there.spec.hostnames) if there is not None else frozenset(),
            self._surroundings.wall_clock(),
            self._grace_s,
            blind=any(self._routes.get(each) is None for each in self._routes.undecodable),
        )
        kept = await self._keeper.keep(published.endpoint, ObjectReference.of(GATEWAYS, gateway.meta))
        waits_s = [each for each in (published.again_s, kept.after_s if kept is not None else None) if each is not None]
        return Requeue(min(waits_s)) if waits_s else None

    def _for_endpoint(self, change: Change[EndpointRecordSet]) -> Iterator[ObjectKey]:
        """A change of its status concerns nobody here."""
        old, new = change.old, change.new
        if old is not None and new is not None and old.meta.generation == new.meta.generation:
            same = old.meta.labels == new.meta.labels and old.meta.annotations == new.meta.annotations
            if same and old.deleting == new.deleting:
                return
        for each in (old, new):
            if each is not None:
                yield from _made_for(each)

    def _for_namespace(self, change: Change[ObjectMeta]) -> Iterator[ObjectKey]:
        """Listeners may choose namespaces by their labels."""
        old, new = change.old, change.new
        if old is not None and new is not None and old.labels == new.labels:
            return
        for _, route in self._routes.items():  # noqa: PERF102 - an informer, not a dict
            if route.meta.namespace == change.key.name:
                yield from _gateways_of(route)


def _for_route(change: Change[HttpRoute]) -> Iterator[ObjectKey]:
    for each in (change.old, change.new):
        if each is not None:
            yield from _gateways_of(each)


def _gateways_of(route: HttpRoute) -> tuple[ObjectKey, ...]:
    return tuple(dict.fromkeys(each.key for each in route.parents if each.is_gateway))


def _made_for(endpoint: EndpointRecordSet) -> tuple[ObjectKey, ...]:
    key = gateway_of(endpoint.meta)
    return (key,) if key is not None else ()
