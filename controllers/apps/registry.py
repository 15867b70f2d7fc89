"""Which apps a manager runs, as one value, and attaching them in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from controllers.apps.endpoint import controller as endpoint
from controllers.apps.endpoint.ask import TIMEOUT_S
from controllers.apps.gateway import controller as gateway
from controllers.apps.gateway.standing import GRACE_S
from controllers.apps.service import controller as service
from controllers.apps.source import NO_TARGETS_GRACE_S
from controllers.apps.surroundings import AppSurroundings, AttachedApp


@dataclass(frozen=True, slots=True)
class AppsConfig:
    """`record_set_namespace` is where generated RecordSets go, None for the namespace of their EndpointRecordSet.

    `service` and `gateway` switch these sources; endpoints that are there are published in any case. The graces are the seconds for which
    a route that is refused and an object without any address keep what is published.
    """

    record_set_namespace: str | None = None
    service: bool = True
    gateway: bool = False
    conversion_timeout_s: float = TIMEOUT_S
    acceptance_grace_s: float = GRACE_S
    no_targets_grace_s: float = NO_TARGETS_GRACE_S


def attach_apps(config: AppsConfig, surroundings: AppSurroundings) -> Iterator[AttachedApp]:
    """Attach every app that is switched on; before any cache runs."""
    app, informers = endpoint.attach(
        surroundings, namespace=config.record_set_namespace, timeout_s=config.conversion_timeout_s
    )
    yield app
    if config.gateway:
        yield gateway.attach(surroundings, informers.endpoints, config.acceptance_grace_s, config.no_targets_grace_s)
    if config.service:
        yield service.attach(surroundings, informers.endpoints, config.no_targets_grace_s)
