"""Everything that the composition of one zone looks at, read at one moment.

Owns gathering from informers. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from controllers.api.provider import Provider
from controllers.api.record_set import RecordSet
from controllers.api.record_withdrawal import RecordWithdrawal
from controllers.api.record_withdrawal_waiver import RecordWithdrawalWaiver
from controllers.api.reference import ProviderRef
from controllers.api.zone import Zone
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.contract import Contract, Contracts
from controllers.core.providercontract.conversion.outcome import Outcome
from controllers.core.providercontract.conversion.request import ConversionKey
from controllers.core.providercontract.resolution import Unresolved, no_provider
from controllers.core.withdrawal.informer import WithdrawalInformers
from kube.informer import Informer
from kube.object import ObjectKey, ObjectMeta

ZONE_INDEX: Final = "zone"
CLASS_INDEX: Final = "zone_class"
PROVIDER_INDEX: Final = "provider"

Resolution = Contract | Unresolved


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of the Provider that a zone is concerned with, compiled.

    `served` is what the Zone's spec.provider means, `storage` what its ledger is to be written in; `former` are those that parts of the
    ledger are still written in, by name.
    """

    served: Resolution
    storage: Resolution
    former: Mapping[str, Resolution] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ZoneInputs:
    """One zone's claims, ledger and surroundings; `units` are ordered by part number.

    `answers` are those of conversion webhooks that are known. `leaving` are the namespaces that are being deleted. While `collecting`,
    guarded changes of the zone wait for others of the same step. `waivers` are those of the withdrawals' namespaces, by namespace, and
    `withdrawal_versions` the versions of the Provider that withdrawals name.
    """

    key: ObjectKey
    zone: Zone | None
    zone_class: ZoneClass | None
    provider: Provider | None
    record_sets: tuple[RecordSet, ...]
    units: tuple[ZoneUnit, ...]
    versions: Versions
    namespace_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    answers: Mapping[ConversionKey, Outcome] = field(default_factory=dict)
    leaving: frozenset[str] = frozenset()
    collecting: bool = False
    withdrawals: tuple[RecordWithdrawal, ...] = ()
    waivers: Mapping[str, tuple[RecordWithdrawalWaiver, ...]] = field(default_factory=dict)
    withdrawal_versions: Mapping[str, Resolution] = field(default_factory=dict)

    def labels_of(self, namespace: str) -> Mapping[str, str] | None:
        """Return the labels of a namespace, None for one that was not seen: what it is labelled with is then unknown."""
        return self.namespace_labels.get(namespace)


@dataclass(frozen=True, slots=True)
class CoreInformers:
    """The caches that core reads; the manager builds and runs them."""

    providers: Informer[Provider]
    zone_classes: Informer[ZoneClass]
    zones: Informer[Zone]
    record_sets: Informer[RecordSet]
    zone_units: Informer[ZoneUnit]
    namespaces: Informer[ObjectMeta]
    withdrawals: WithdrawalInformers | None = None

    def register_indexes(self) -> None:
        """Add the indexes that gathering and event mapping need; call before the informers run."""
        self.record_sets.add_index(ZONE_INDEX, lambda claim: (zone_key_of(claim),))
        self.zone_units.add_index(ZONE_INDEX, lambda unit: (unit.spec.zone.ref.key,))
        self.zones.add_index(CLASS_INDEX, lambda zone: (class_key_of(zone),))
        self.zones.add_index(PROVIDER_INDEX, lambda zone: (zone.spec.provider.name,))
        if self.withdrawals is not None:
            self.withdrawals.register_indexes()


def zone_key_of(claim: RecordSet) -> ObjectKey:
    """Return the key of the Zone that a RecordSet names."""
    return claim.spec.zone_ref.key_from(claim.meta.namespace)


def class_key_of(zone: Zone) -> ObjectKey:
    """Return the key of the ZoneClass that a Zone names."""
    return zone.spec.zone_class_ref.key_from(zone.meta.namespace)


def contracts_of(inputs: ZoneInputs) -> tuple[Contract, Contract]:
    """Return the served and the storage contract of a zone that is accepted."""
    served, storage = inputs.versions.served, inputs.versions.storage
    assert isinstance(served, Contract), "ruled out by the rules over the zone"
    assert isinstance(storage, Contract), "ruled out by the rules over the zone"
    return served, storage


def gather(informers: CoreInformers, contracts: Contracts, key: ObjectKey) -> ZoneInputs:
    """Return the inputs of one zone from the caches; versions of Providers are compiled once and kept in `contracts`."""
    zone = informers.zones.get(key)
    record_sets = tuple(informers.record_sets.by_index(ZONE_INDEX, key))
    units = sorted(informers.zone_units.by_index(ZONE_INDEX, key), key=lambda unit: unit.spec.part)
    provider = informers.providers.get(ObjectKey("", zone.spec.provider.name)) if zone else None
    followed = informers.withdrawals
    withdrawals = followed.of_zone(key) if followed is not None else ()
    claimants = {claim.meta.namespace for claim in record_sets} | {claim.meta.namespace for claim in withdrawals}
    namespaces = _namespaces(informers, {key.namespace, *claimants})
    return ZoneInputs(
        key=key,
        zone=zone,
        zone_class=informers.zone_classes.get(class_key_of(zone)) if zone else None,
        provider=provider,
        record_sets=record_sets,
        units=tuple(units),
        versions=resolve(contracts, provider, zone, units),
        namespace_labels={name: meta.labels for name, meta in namespaces.items()},
        leaving=frozenset(name for name, meta in namespaces.items() if meta.deleting),
        withdrawals=withdrawals,
        waivers=followed.waivers_for(withdrawals) if followed is not None else {},
        withdrawal_versions=versions_named_by(contracts, provider, withdrawals),
    )


def resolve(contracts: Contracts, provider: Provider | None, zone: Zone | None, units: Iterable[ZoneUnit]) -> Versions:
    """Return the versions that a zone is concerned with; none of them can be told without the Zone."""
    if zone is None:
        return Versions(served=(nothing := no_provider("")), storage=nothing)
    ref = zone.spec.provider
    storage = contracts.storage(provider, ref.name)
    former: dict[str, Resolution] = {}
    if isinstance(storage, Contract):
        written = {unit.spec.provider.version for unit in units} - {storage.version.name}
        former = {name: contracts.find(provider, ProviderRef(name=ref.name, version=name)) for name in written}
    return Versions(contracts.resolve(provider, ref), storage, former)


def versions_named_by(
    contracts: Contracts, provider: Provider | None, withdrawals: Iterable[RecordWithdrawal]
) -> dict[str, Resolution]:
    """Return the versions that withdrawals name; the rules see to it that they mean the zone's Provider."""
    found: dict[str, Resolution] = {}
    for claim in withdrawals:
        ref = claim.spec.provider
        if ref.version not in found:
            found[ref.version] = contracts.resolve(provider, ref)
    return found


def _namespaces(informers: CoreInformers, names: Iterable[str]) -> dict[str, ObjectMeta]:
    found = {name: informers.namespaces.get(ObjectKey("", name)) for name in names}
    return {name: meta for name, meta in found.items() if meta is not None}
