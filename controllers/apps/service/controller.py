"""The Service source: keeps one EndpointRecordSet for each load-balanced Service that names hostnames. Owns event mapping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from controllers.api.endpoint import EndpointRecordSet
from controllers.apps.service.source import (
    SERVICE_MANAGER,
    SERVICES,
    Service,
    endpoint_key,
    endpoint_of,
    parse_service,
    service_of,
)
from controllers.apps.source import EndpointKeeper
from controllers.apps.surroundings import AppSurroundings, AttachedApp
from controllers.runtime.controller import Controller, Requeue
from controllers.runtime.event_map import EventMap
from kube.informer import Informer
from kube.object import ObjectKey, ObjectReference
from kube.store import Change

WORKERS: Final = 8


def attach(
    surroundings: AppSurroundings, endpoints: Informer[EndpointRecordSet], no_targets_grace_s: float
) -> AttachedApp:
    """Attach the source; it shares the cache of EndpointRecordSets."""
    services = Informer(surroundings.client, SERVICES, parse_service)

    @contextmanager
    def lead() -> Iterator[Sequence[Controller[Any]]]:
        source = ServiceSource(surroundings, services, endpoints, no_targets_grace_s)
        try:
            yield (source.controller,)
        finally:
            source.close()

    return AttachedApp(lead, (services,))


class ServiceSource:
    """One leadership of the source."""

    def __init__(
        self,
        surroundings: AppSurroundings,
        services: Informer[Service],
        endpoints: Informer[EndpointRecordSet],
        no_targets_grace_s: float,
    ) -> None:
        self._services = services
        self._endpoints = endpoints
        self._keeper = EndpointKeeper(surroundings, endpoints, SERVICE_MANAGER, no_targets_grace_s)
        self.controller: Controller[ObjectKey] = Controller("endpoint-service", self.reconcile, workers=WORKERS)
        self._events = EventMap()
        self._events.follow(services, _for_service, self.controller)
        self._events.follow(endpoints, _for_endpoint, self.controller)

    def close(self) -> None:
        """Stop following the caches."""
        self._events.close()

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Make the EndpointRecordSet of one Service as the Service has it."""
        service = self._services.get(key)
        if service is not None:
            return await self._keeper.keep(endpoint_of(service), ObjectReference.of(SERVICES, service.meta))
        if key not in self._services.undecodable:
            there = self._endpoints.get(endpoint_key(key))
            if there is not None and service_of(there.meta.labels) == key:
                await self._keeper.remove(there)
        return None


def _for_service(change: Change[Service]) -> Iterator[ObjectKey]:
    """Services that never named a hostname are none of ours."""
    old, new = change.old, change.new
    if not any(each is not None and each.named for each in (old, new)):
        return
    if old is None or new is None or _said(old) != _said(new):
        yield change.key


def _for_endpoint(change: Change[EndpointRecordSet]) -> Iterator[ObjectKey]:
    """A change of its status concerns nobody here."""
    old, new = change.old, change.new
    if old is not None and new is not None:
        same = old.spec == new.spec and old.meta.labels == new.meta.labels
        if same and old.meta.annotations == new.meta.annotations and old.deleting == new.deleting:
            return
    owners = {service_of(each.meta.labels) for each in (old, new) if each is not None}
    yield from (each for each in owners if each is not None)


def _said(service: Service) -> tuple[object, ...]:
    return service.meta.uid, dict(service.meta.annotations), service.balanced, service.ingress, service.meta.deleting
