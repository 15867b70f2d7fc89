"""Everything that the controllers of the provider look at, read from their caches at one moment.

Owns gathering, the indexes that it needs, and our own writes that the caches have not shown yet. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from controllers.api.group import ENDPOINT_SLICES, HOSTED_ZONES
from controllers.api.provider import Provider
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.conversion.zone_class import StoredClass, StoredClasses
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.class_rule import is_ours
from controllers.providers.hosted.echo import Echo
from controllers.providers.hosted.hosted_object import HostedObject, Manifest, PageObject, parse_hosted_object
from controllers.providers.hosted.live_server import SERVICE_LABEL, ServerSlice, live_servers, parse_server_slice
from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectKey

ZONE_INDEX: Final = "hosted/zone"
DOMAIN_INDEX: Final = "hosted/domain"
CLASS_INDEX: Final = "hosted/class"

InStorage = Callable[[ZoneClass | None], StoredClass | None]


@dataclass(frozen=True, slots=True)
class HostedInformers:
    """The caches that the provider reads; the manager runs them. The first three are shared with core."""

    providers: Informer[Provider]
    zone_classes: Informer[ZoneClass]
    zone_units: Informer[ZoneUnit]
    hosted_zones: Informer[HostedObject]
    endpoint_slices: Informer[ServerSlice]

    def register_indexes(self) -> None:
        """Add the indexes that gathering and event mapping need; call before the informers run."""
        self.zone_units.add_index(ZONE_INDEX, lambda unit: (unit.spec.zone.ref.key,))
        self.zone_units.add_index(
            DOMAIN_INDEX, lambda unit: (unit.spec.zone.domain_name,) if unit.spec.part == 0 else ()
        )
        self.zone_units.add_index(
            CLASS_INDEX, lambda unit: (unit.spec.zone.zone_class_ref.key,) if unit.spec.part == 0 else ()
        )
        self.hosted_zones.add_index(ZONE_INDEX, lambda found: (found.zone_key,))


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


@dataclass(frozen=True, slots=True)
class ZoneView:
    """One zone: its ledger's parts by number, and everything around it. `rivals` are the other ledgers for its domain."""

    key: ObjectKey
    parts: tuple[ZoneUnit, ...]
    zone_class: ZoneClass | None
    provider: Provider | None
    manifest: Manifest | None
    pages: Mapping[str, PageObject]
    live: tuple[str, ...]
    rivals: tuple[Rival, ...]
    stored_class: StoredClass | None = None
    """The class in the storage version, when it is written in another one."""

    @property
    def main(self) -> ZoneUnit | None:
        """Part 0, or None while it is not there."""
        return self.parts[0] if self.parts and self.parts[0].spec.part == 0 else None


def gather(
    informers: HostedInformers,
    config: HostedConfig,
    stored: StoredClasses,
    echo: Echo[HostedObject],
    key: ObjectKey,
) -> ZoneView:
    """Return the view of one zone."""
    provider = informers.providers.get(ObjectKey("", config.provider_name))

    def in_storage(zone_class: ZoneClass | None) -> StoredClass | None:
        return stored.get(zone_class, provider) if zone_class is not None and is_ours(zone_class, config) else None

    parts = sorted(informers.zone_units.by_index(ZONE_INDEX, key), key=lambda unit: unit.spec.part)
    found = informers.hosted_zones.by_index(ZONE_INDEX, key)
    zone_class = _class_of(informers, parts[0]) if parts else None
    return ZoneView(
        key=key,
        parts=tuple(parts),
        zone_class=zone_class,
        provider=provider,
        manifest=_manifest_of(informers, echo, key),
        pages={each.meta.name: each for each in found if isinstance(each, PageObject)},
        live=live_servers(each for _, each in informers.endpoint_slices.items()),
        rivals=tuple(_rivals(informers, in_storage, echo, parts[0])) if parts else (),
        stored_class=in_storage(zone_class),
    )


def _rivals(
    informers: HostedInformers, in_storage: InStorage, echo: Echo[HostedObject], part: ZoneUnit
) -> Iterator[Rival]:
    for unit in informers.zone_units.by_index(DOMAIN_INDEX, part.spec.zone.domain_name):
        if unit.spec.zone.ref.key != part.spec.zone.ref.key:
            zone_class = _class_of(informers, unit)
            published = _manifest_of(informers, echo, unit.key) is not None
            yield Rival(unit, zone_class, published, in_storage(zone_class))


def _class_of(informers: HostedInformers, part: ZoneUnit) -> ZoneClass | None:
    return informers.zone_classes.get(part.spec.zone.zone_class_ref.key)


def _manifest_of(informers: HostedInformers, echo: Echo[HostedObject], key: ObjectKey) -> Manifest | None:
    cached = informers.hosted_zones.get(key)
    latest = echo.latest(key, cached.meta if cached is not None else None, cached)
    return latest if isinstance(latest, Manifest) else None
