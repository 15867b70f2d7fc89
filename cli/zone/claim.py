"""The manifests that an import makes: ZoneClass, Zone and RecordSets, with the fields in the order in which people read them.

Owns shape and references. Never judges what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cli.zone.apex import Apex, ApexError, head_from_parameters
from cli.zone.name import record_set_object_name
from controllers.api.group import API_VERSION
from controllers.api.reference import NamespacedRef, ProviderRef
from controllers.providers.hosted.binding import CONTROLLER_NAME, PROVIDER_NAME
from zonemodel.name import Fqdn, OwnerName
from zonemodel.record import RecordType

Manifest = dict[str, Any]


class ImportRefusedError(ValueError):
    """A zone that no Zone object can stand for; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the manifests are called and refer to.

    `zone_name` is the Zone's object name; an absent namespace is left to whoever applies. `with_class` asks for the ZoneClass
    too, which only the hosted provider's parameters can be made for.
    """

    zone_name: str
    namespace: str | None
    zone_class: NamespacedRef
    provider: ProviderRef
    with_class: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """A record set of a file that has a body; `rejoined` as in `Body`."""

    owner: OwnerName
    type: RecordType
    ttl_s: int
    fields: Mapping[str, Any]
    records: int
    rejoined: bool


def head_manifests(domain: Fqdn, apex: Apex, target: Target) -> Iterator[Manifest]:
    """Yield the ZoneClass when it is asked for, and the Zone; raises ImportRefusedError when no such class can be made."""
    if target.with_class:
        yield _class_manifest(domain, apex, target)
    spec = {
        "domainName": domain,
        "zoneClassRef": target.zone_class.dump(),
        "provider": target.provider.dump(),
    }
    yield {
        "apiVersion": API_VERSION,
        "kind": "Zone",
        "metadata": _metadata(target.zone_name, target.namespace),
        "spec": spec,
    }


def _class_manifest(domain: Fqdn, apex: Apex, target: Target) -> Manifest:
    if target.provider.name != PROVIDER_NAME:
        raise ImportRefusedError(
            f"a ZoneClass can be made for the provider {PROVIDER_NAME}, not for {target.provider.name}"
        )
    try:
        head_from_parameters(apex.parameters, domain)
    except ApexError as error:
        raise ImportRefusedError(f"SOA and NS of {domain} make no ZoneClass: {error}") from error
    spec = {
        "provider": target.provider.dump(),
        "controllerName": CONTROLLER_NAME,
        "parameters": apex.parameters,
    }
    metadata = _metadata(target.zone_class.name, target.zone_class.namespace or target.namespace)
    return {"apiVersion": API_VERSION, "kind": "ZoneClass", "metadata": metadata, "spec": spec}


def record_set_manifest(held: Held, target: Target) -> Manifest:
    """Return the RecordSet for what it is to hold."""
    spec = {
        "zoneRef": {"name": target.zone_name},
        "provider": target.provider.dump(),
        "type": held.type.value,
        "name": held.owner,
        "ttl": held.ttl_s,
        held.type.field: held.fields,
    }
    name = record_set_object_name(target.zone_name, held.owner, held.type)
    return {"apiVersion": API_VERSION, "kind": "RecordSet", "metadata": _metadata(name, target.namespace), "spec": spec}


def _metadata(name: str, namespace: str | None) -> Manifest:
    return {"name": name} if namespace is None else {"name": name, "namespace": namespace}
