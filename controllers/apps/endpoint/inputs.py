"""Everything that the records of one endpoint depend on, read at one moment. Owns gathering from caches. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from controllers.api.endpoint import (
    ENDPOINT_MANAGER,
    ENDPOINT_PROVIDER_CAPABILITIES,
    ENDPOINT_RECORD_SETS,
    HOSTNAME_ANNOTATION,
    MANAGED_BY_LABEL,
    OWNER_NAME_LABEL,
    OWNER_NAMESPACE_LABEL,
    EndpointProviderCapability,
    EndpointRecordSet,
    parse_endpoint_provider_capability,
    parse_endpoint_record_set,
)
from controllers.api.provider import ProviderVersion
from controllers.api.record_set import RecordSet
from controllers.api.reference import ProviderRef
from controllers.api.zone import Zone
from controllers.apps.endpoint.choice import suffixes
from controllers.apps.surroundings import AppSurroundings
from kube.informer import Informer
from kube.object import ObjectKey

DOMAIN_INDEX: Final = "endpoint/domain"
OWNER_INDEX: Final = "endpoint/owner"
OWNED_ZONE_INDEX: Final = "endpoint/zone"
PLACE_INDEX: Final = "endpoint/place"
SUFFIX_INDEX: Final = "endpoint/suffix"
NAMESPACE_INDEX: Final = "endpoint/namespace"
CAPABILITY_INDEX: Final = "endpoint/provider"


@dataclass(frozen=True, slots=True)
class EndpointInformers:
    """The app's own caches."""

    endpoints: Informer[EndpointRecordSet]
    capabilities: Informer[EndpointProviderCapability]

    @classmethod
    def over(cls, surroundings: AppSurroundings) -> EndpointInformers:
        """Make the caches, and add the app's indexes to those that it shares; before any of them runs."""
        endpoints = Informer(surroundings.client, ENDPOINT_RECORD_SETS, parse_endpoint_record_set)
        endpoints.add_index(SUFFIX_INDEX, lambda endpoint: _domains(endpoint.spec.hostnames))
        endpoints.add_index(NAMESPACE_INDEX, lambda endpoint: (endpoint.meta.namespace,))
        capabilities = Informer(surroundings.client, ENDPOINT_PROVIDER_CAPABILITIES, parse_endpoint_provider_capability)
        capabilities.add_index(CAPABILITY_INDEX, lambda capability: (capability.spec.provider,))
        surroundings.zones.add_index(DOMAIN_INDEX, lambda zone: (zone.spec.domain_name,))
        surroundings.record_sets.add_index(OWNER_INDEX, _owners)
        surroundings.record_sets.add_index(OWNED_ZONE_INDEX, _owned_zones)
        surroundings.record_sets.add_index(PLACE_INDEX, lambda each: (place_of(each),))
        return cls(endpoints, capabilities)


@dataclass(frozen=True, slots=True)
class EndpointInputs:
    """One endpoint and its surroundings.

    `existing` are the RecordSets that were made for it, `by_hostname` the same by the hostname that they hold. `namespace` is where
    further ones go. `grantees` are the namespaces that a Zone has to give a name to, the endpoint's own and that one, with their labels,
    None while those are not known.
    """

    key: ObjectKey
    endpoint: EndpointRecordSet | None
    existing: tuple[RecordSet, ...]
    by_hostname: Mapping[str | None, Sequence[RecordSet]]
    namespace: str
    grantees: Mapping[str, Mapping[str, str] | None]
    surroundings: AppSurroundings
    informers: EndpointInformers

    @property
    def staying(self) -> EndpointRecordSet | None:
        """The endpoint, None when it has gone or is going."""
        return None if self.endpoint is None or self.endpoint.deleting else self.endpoint

    def zones_of(self, domain: str) -> list[Zone]:
        return self.surroundings.zones.by_index(DOMAIN_INDEX, domain)

    def capabilities_of(self, provider: ProviderRef) -> list[EndpointProviderCapability]:
        return self.informers.capabilities.by_index(CAPABILITY_INDEX, provider)

    def provider_version(self, ref: ProviderRef) -> ProviderVersion | None:
        provider = self.surroundings.providers.get(ObjectKey("", ref.name))
        versions = provider.spec.versions if provider is not None else ()
        return next((each for each in versions if each.name == ref.version), None)

    def zone(self, key: ObjectKey) -> Zone | None:
        return self.surroundings.zones.get(key)

    def zone_of(self, record_set: RecordSet) -> Zone | None:
        return self.zone(record_set.spec.zone_ref.key_from(record_set.meta.namespace))

    def made_for(self, hostname: str) -> Sequence[RecordSet]:
        """Return the RecordSets that hold a hostname."""
        return self.by_hostname.get(hostname, ())

    def record_set(self, name: str) -> RecordSet | None:
        """Return what stands at a name where this endpoint's RecordSets go, whosever it is."""
        return self.surroundings.record_sets.get(ObjectKey(self.namespace, name))


def gather(
    surroundings: AppSurroundings, informers: EndpointInformers, key: ObjectKey, namespace: str | None
) -> EndpointInputs:
    """Return the inputs of an endpoint; `namespace` is that of all RecordSets, None for the endpoint's own."""
    where = namespace or key.namespace
    namespaces = {name: surroundings.namespaces.get(ObjectKey("", name)) for name in (key.namespace, where)}
    existing = sorted(surroundings.record_sets.by_index(OWNER_INDEX, key), key=lambda each: each.key)
    by_hostname: dict[str | None, list[RecordSet]] = {}
    for each in existing:
        by_hostname.setdefault(held_hostname(each, surroundings.zones), []).append(each)
    return EndpointInputs(
        key=key,
        endpoint=informers.endpoints.get(key),
        existing=tuple(existing),
        by_hostname=by_hostname,
        namespace=where,
        grantees={name: meta.labels if meta is not None else None for name, meta in namespaces.items()},
        surroundings=surroundings,
        informers=informers,
    )


def held_hostname(record_set: RecordSet, zones: Informer[Zone]) -> str | None:
    """Return the hostname that a RecordSet holds; what its annotation says, if anything, where its Zone is not there to tell."""
    zone = zones.get(record_set.spec.zone_ref.key_from(record_set.meta.namespace))
    if zone is None:
        return record_set.meta.annotations.get(HOSTNAME_ANNOTATION)
    return absolute_name(record_set.spec.name, zone)


def place_of(record_set: RecordSet) -> tuple[ObjectKey, str]:
    """Return the zone of a RecordSet and its name there."""
    return record_set.spec.zone_ref.key_from(record_set.meta.namespace), record_set.spec.name


def absolute_name(name: str, zone: Zone) -> str:
    """Return a name of a zone as a hostname."""
    domain = zone.spec.domain_name
    return domain if name == "@" else f"{name}.{domain}"


def owner_of(record_set: RecordSet) -> ObjectKey | None:
    """Return the endpoint that a RecordSet was made for, None when it is no work of this app."""
    labels = record_set.meta.labels
    namespace, name = labels.get(OWNER_NAMESPACE_LABEL), labels.get(OWNER_NAME_LABEL)
    if labels.get(MANAGED_BY_LABEL) != ENDPOINT_MANAGER or not namespace or not name:
        return None
    return ObjectKey(namespace, name)


def _owners(record_set: RecordSet) -> tuple[ObjectKey, ...]:
    owner = owner_of(record_set)
    return (owner,) if owner is not None else ()


def _owned_zones(record_set: RecordSet) -> tuple[ObjectKey, ...]:
    owned = owner_of(record_set) is not None
    return (record_set.spec.zone_ref.key_from(record_set.meta.namespace),) if owned else ()


def _domains(hostnames: Iterable[str]) -> set[str]:
    return {domain for hostname in hostnames for domain in suffixes(hostname)}
