"""Everything that the zone controller looks at, read from the caches at one moment.

Owns gathering beyond the ledger itself: snapshots, live name servers, rivals for a domain, and our own writes that the caches have not
shown yet. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.api.group import ENDPOINT_SLICES, HOSTED_ZONES
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.conversion.zone_class import StoredClass
from controllers.ledger.context import LedgerContext
from controllers.ledger.echo import Echo
from controllers.ledger.surroundings import LedgerInformers
from controllers.ledger.view import LedgerView, class_of, gather_ledger, in_storage
from controllers.probe.round import Server
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.hosted_object import HostedObject, Manifest, PageObject, parse_hosted_object
from controllers.providers.hosted.live_server import (
    SERVICE_LABEL,
    ServerSlice,
    live_endpoints,
    live_servers,
    parse_server_slice,
)
from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectKey

ZONE_INDEX: Final = "hosted/zone"
DOMAIN_INDEX: Final = "hosted/domain"


@dataclass(frozen=True, slots=True)
class HostedInformers:
    """The caches that the provider has for itself; the manager runs them."""

    hosted_zones: Informer[HostedObject]
    endpoint_slices: Informer[ServerSlice]

    @classmethod
    def of(cls, client: Client, config: HostedConfig, shared: LedgerInformers) -> HostedInformers:
        """Return the caches, with the indexes that gathering and event mapping need; call before the shared ones run."""
        own = cls(hosted_zone_informer(client), endpoint_slice_informer(client, config))
        own.hosted_zones.add_index(ZONE_INDEX, lambda found: (found.zone_key,))
        shared.zone_units.add_index(
            DOMAIN_INDEX, lambda unit: (unit.spec.zone.domain_name,) if unit.spec.part == 0 else ()
        )
        return own

    @property
    def all(self) -> tuple[Informer[Any], ...]:
        return self.hosted_zones, self.endpoint_slices


def hosted_zone_informer(client: Client) -> Informer[HostedObject]:
    """Return the cache of snapshots and their servers' reports."""
    return Informer(client, HOSTED_ZONES, parse_hosted_object)


def endpoint_slice_informer(client: Client, config: HostedConfig) -> Informer[ServerSlice]:
    """Return the cache of the server Service's endpoints."""
    return Informer(
        client,
        ENDPOINT_SLICES,
        parse_server_slice,
        namespace=config.namespace,
        label_selector=f"{SERVICE_LABEL}={config.server_service}",
    )


@dataclass(frozen=True, slots=True)
class Rival:
    """Part 0 of a ledger for the same domain, its class, and whether a snapshot of it is published."""

    unit: ZoneUnit
    zone_class: ZoneClass | None
    published: bool
    stored_class: StoredClass | None = None
    """The class in the storage version, when it is written in another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneView(LedgerView):
    """One zone and everything around it. `rivals` are the other ledgers for its domain, `endpoints` the live servers' sockets."""

    manifest: Manifest | None
    pages: Mapping[str, PageObject]
    live: tuple[str, ...]
    rivals: tuple[Rival, ...]
    endpoints: tuple[Server, ...] = ()


def gather(context: LedgerContext, informers: HostedInformers, objects: Echo[HostedObject], key: ObjectKey) -> ZoneView:
    """Return the view of one zone."""
    ledger = gather_ledger(context, key)
    found = informers.hosted_zones.by_index(ZONE_INDEX, key)
    return ZoneView(
        key=key,
        parts=ledger.parts,
        zone_class=ledger.zone_class,
        provider=ledger.provider,
        stored_class=ledger.stored_class,
        manifest=_manifest_of(informers, objects, key),
        pages={each.meta.name: each for each in found if isinstance(each, PageObject)},
        live=live_servers(each for _, each in informers.endpoint_slices.items()),
        endpoints=live_endpoints(each for _, each in informers.endpoint_slices.items()),
        rivals=tuple(_rivals(context, informers, objects, ledger.parts[0])) if ledger.parts else (),
    )


def _rivals(
    context: LedgerContext, informers: HostedInformers, objects: Echo[HostedObject], part: ZoneUnit
) -> Iterator[Rival]:
    for unit in context.informers.zone_units.by_index(DOMAIN_INDEX, part.spec.zone.domain_name):
        if unit.spec.zone.ref.key != part.spec.zone.ref.key:
            zone_class = class_of(context, unit)
            published = _manifest_of(informers, objects, unit.key) is not None
            yield Rival(unit, zone_class, published, in_storage(context, zone_class))


def _manifest_of(informers: HostedInformers, objects: Echo[HostedObject], key: ObjectKey) -> Manifest | None:
    cached = informers.hosted_zones.get(key)
    latest = objects.latest(key, cached.meta if cached is not None else None, cached)
    return latest if isinstance(latest, Manifest) else None
