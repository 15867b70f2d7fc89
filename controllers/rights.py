"""What the programs of an installation must be allowed to do, by what is switched on (rbac.authorization.k8s.io/v1).

Owns the list, which the chart's roles are held equal to by a test. Never asks whether anybody has a right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from controllers.api.endpoint import ENDPOINT_PROVIDER_CAPABILITIES, ENDPOINT_RECORD_SETS
from controllers.api.group import (
    ENDPOINT_SLICES,
    HOSTED_ZONES,
    LEASES,
    NAMESPACES,
    PROVIDERS,
    RECORD_SETS,
    SECRETS,
    ZONE_CLASSES,
    ZONE_UNITS,
    ZONES,
)
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.api.record_withdrawal_waiver import RECORD_WITHDRAWAL_WAIVERS
from controllers.apps.endpoint import front_proxy
from controllers.apps.gateway.kind import GATEWAYS, HTTP_ROUTES
from controllers.apps.service.source import SERVICES
from controllers.manager import LEASE_NAME
from controllers.providers.cloudflare.registration import CLOUDFLARE
from controllers.providers.hosted.registration import HOSTED
from controllers.registry import REGISTRATIONS
from controllers.runtime.recorder import EVENTS
from kube.resource import ResourceRef

FOLLOW: Final = ("list", "watch")
WRITE: Final = ("create", "patch", "delete")


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """One verb on one resource, or on its subresource as in `zones/status`; `namespace` "" means all, `name` "" any object."""

    group: str
    resource: str
    verb: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {resource}{name}{f' in {self.namespace}' if self.namespace else ''}"


@dataclass(frozen=True, slots=True)
class Switches:
    """What a manager runs: names of providers, those of them whose conversion it serves, and what it publishes of the cluster."""

    providers: frozenset[str]
    converting: frozenset[str]
    services: bool
    gateways: bool


def manager_rights(switches: Switches, namespace: str) -> frozenset[Right]:
    """Return what a manager in a namespace needs."""
    return frozenset(_manager_rights(switches, namespace))


def server_rights(namespace: str = "") -> frozenset[Right]:
    """Return what a name server needs that serves the zones of one namespace, or of all."""
    reading = _on(HOSTED_ZONES, ("get", *FOLLOW), namespace=namespace)
    return frozenset({*reading, *_on(HOSTED_ZONES, ("patch",), "status", namespace=namespace)})


def _manager_rights(switches: Switches, namespace: str) -> Iterator[Right]:
    yield from _core_rights()
    yield from _on(LEASES, ("create",), namespace=namespace)
    yield from _on(LEASES, ("get", "update"), namespace=namespace, name=LEASE_NAME)
    if switches.services or switches.gateways:
        yield from _on(ENDPOINT_RECORD_SETS, WRITE)
    if switches.services:
        yield from _on(SERVICES, FOLLOW)
    if switches.gateways:
        for ref in (GATEWAYS, HTTP_ROUTES):
            yield from _on(ref, FOLLOW)
    if switches.providers:
        for ref in (ZONE_CLASSES, ZONE_UNITS):
            yield from _on(ref, ("patch",), "status")
    for name in switches.providers:
        yield from _provider_rights(name, namespace)
    for each in REGISTRATIONS:
        if each.name in switches.converting and each.endpoint is not None:
            yield from _on(each.endpoint.resource, ("create",))
    if switches.converting:
        yield from _on(
            front_proxy.CONFIG_MAPS, ("get", *FOLLOW), namespace=front_proxy.NAMESPACE, name=front_proxy.NAME
        )


def _core_rights() -> Iterator[Right]:
    """Yield what every manager needs: it reads claims, and writes their status, ledgers and what endpoints become."""
    for ref in (PROVIDERS, ZONES):
        yield from _on(ref, ("get", *FOLLOW))  # admission asks for one that the cache does not have yet
    for ref in (
        ZONE_CLASSES,
        RECORD_WITHDRAWAL_WAIVERS,
        ENDPOINT_RECORD_SETS,
        ENDPOINT_PROVIDER_CAPABILITIES,
        NAMESPACES,
    ):
        yield from _on(ref, FOLLOW)
    for ref in (ZONE_UNITS, RECORD_SETS):
        yield from _on(ref, (*FOLLOW, *WRITE))
    yield from _on(RECORD_WITHDRAWALS, (*FOLLOW, "create"))
    yield from _on(ZONES, ("patch",))
    for ref in (ZONES, RECORD_SETS, RECORD_WITHDRAWALS, RECORD_WITHDRAWAL_WAIVERS, ENDPOINT_RECORD_SETS):
        yield from _on(ref, ("patch",), "status")
    yield from _on(EVENTS, ("create", "patch"))


def _provider_rights(name: str, namespace: str) -> Iterator[Right]:
    if name == HOSTED.name:
        yield from _on(HOSTED_ZONES, ("get", *FOLLOW, *WRITE))  # their status is the name servers'
        yield from _on(ENDPOINT_SLICES, FOLLOW, namespace=namespace)
        return
    for own in (own for each in REGISTRATIONS if each.name == name for own in each.kinds):
        yield from _on(own.kind.ref, FOLLOW)
        yield from _on(own.kind.ref, ("patch",), "status")
    if name == CLOUDFLARE.name:
        yield from _on(SECRETS, ("get", *FOLLOW))


def _on(
    ref: ResourceRef, verbs: Iterable[str], subresource: str = "", *, namespace: str = "", name: str = ""
) -> Iterator[Right]:
    resource = f"{ref.plural}/{subresource}" if subresource else ref.plural
    return (Right(ref.group, resource, verb, namespace, name) for verb in verbs)
