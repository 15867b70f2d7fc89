"""What a Service publishes. Pure: the Service in, hostnames and targets out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.api.endpoint import (
    ENDPOINT_GROUP,
    MANAGED_BY_LABEL,
    RETIREMENT_ANNOTATION,
    EndpointReason,
)
from controllers.apps.endpoint.plan import digested_name
from controllers.apps.hostname_list import Hostnames, sort_out, split_list
from controllers.apps.left_out import LeftOut
from controllers.apps.source import Endpoint
from controllers.apps.target import Targets, read_targets
from kube.object import ObjectKey, ObjectMeta
from kube.resource import ResourceRef

SERVICES: Final = ResourceRef("", "v1", "services", "Service")
SERVICE_MANAGER: Final = "dns-api-service"
HOSTNAMES_ANNOTATION: Final = f"{ENDPOINT_GROUP}/hostnames"
LEGACY_PREFIX: Final = "external-dns.alpha.kubernetes.io/"
LEGACY_ANNOTATION: Final = f"{LEGACY_PREFIX}hostname"
LEGACY_TARGET: Final = f"{LEGACY_PREFIX}target"
LEGACY_CONTROLLER: Final = f"{LEGACY_PREFIX}controller"
LEGACY_CONTROLLER_NAME: Final = "dns-controller"
"""What external-dns calls itself: it leaves objects of any other controller alone."""
SERVICE_NAMESPACE_LABEL: Final = f"service.{ENDPOINT_GROUP}/service-namespace"
SERVICE_NAME_LABEL: Final = f"service.{ENDPOINT_GROUP}/service-name"
LOAD_BALANCER: Final = "LoadBalancer"


@dataclass(frozen=True, slots=True)
class Service:
    """The part of a Service that counts here."""

    meta: ObjectMeta
    balanced: bool
    ingress: Targets

    @property
    def named(self) -> bool:
        """Whether it names hostnames at all."""
        return HOSTNAMES_ANNOTATION in self.meta.annotations or LEGACY_ANNOTATION in self.meta.annotations


def parse_service(obj: Mapping[str, Any]) -> Service:
    """Parse API JSON; raises ValueError for an object without a name."""
    balanced = (obj.get("spec") or {}).get("type") == LOAD_BALANCER
    ingress = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return Service(ObjectMeta.parse(obj), balanced, _targets(ingress) if balanced else Targets())


def endpoint_of(service: Service) -> Endpoint:
    """Return what a Service publishes; an empty endpoint when it has no address, is going, or is no load balancer."""
    annotations = service.meta.annotations
    live = service.balanced and not service.meta.deleting
    retirement = annotations.get(RETIREMENT_ANNOTATION)
    return Endpoint(
        key=endpoint_key(service.meta.key),
        labels=labels_of(service.meta.key),
        hostnames=hostnames_of(annotations) if live else Hostnames(()),
        targets=service.ingress if live else Targets(),
        annotations={RETIREMENT_ANNOTATION: retirement} if retirement is not None else {},
    )


def endpoint_key(service: ObjectKey) -> ObjectKey:
    """Return the key of a Service's EndpointRecordSet."""
    return ObjectKey(service.namespace, digested_name(service.name, ("Service", *service)))


def labels_of(service: ObjectKey) -> dict[str, str]:
    """Return the labels that say whose EndpointRecordSet it is."""
    return {
        MANAGED_BY_LABEL: SERVICE_MANAGER,
        SERVICE_NAMESPACE_LABEL: service.namespace,
        SERVICE_NAME_LABEL: service.name,
    }


def service_of(labels: Mapping[str, str]) -> ObjectKey | None:
    """Return the Service that an EndpointRecordSet with these labels was made for, None when it was made by somebody else."""
    namespace, name = labels.get(SERVICE_NAMESPACE_LABEL), labels.get(SERVICE_NAME_LABEL)
    if labels.get(MANAGED_BY_LABEL) != SERVICE_MANAGER or not namespace or not name:
        return None
    return ObjectKey(namespace, name)


def hostnames_of(annotations: Mapping[str, str]) -> Hostnames:
    """Return the hostnames that annotations list.

    external-dns takes names in any case and with a last dot, so its list may have them. Where it would not publish the addresses of the
    Service, neither do we.
    """
    own = annotations.get(HOSTNAMES_ANNOTATION)
    if own is not None:
        return sort_out(split_list(own))
    legacy = {each.lower().removesuffix(".") or each for each in split_list(annotations.get(LEGACY_ANNOTATION, ""))}
    fault = _object_to_legacy(annotations)
    if fault is None:
        return sort_out(legacy)
    left_out = (_left_out(each, fault) for each in legacy)
    return sort_out((), left_out)


def _left_out(hostname: str, fault: str) -> LeftOut:
    return LeftOut(hostname=hostname[:253], reason=EndpointReason.UNSUPPORTED_ANNOTATION, message=fault)


def _object_to_legacy(annotations: Mapping[str, str]) -> str | None:
    controller = annotations.get(LEGACY_CONTROLLER, LEGACY_CONTROLLER_NAME)
    if controller != LEGACY_CONTROLLER_NAME:
        why = f"{LEGACY_CONTROLLER} gives the Service to {controller[:63]!r}"
    elif LEGACY_TARGET in annotations:
        why = f"{LEGACY_TARGET} asks for another target than the Service's addresses, which is not read here"
    else:
        return None
    return f"{why}. Name hostnames in {HOSTNAMES_ANNOTATION} to publish the Service's addresses all the same."


def _targets(ingress: Iterable[Mapping[str, Any]]) -> Targets:
    points = list(ingress)
    return read_targets(
        (each["ip"] for each in points if each.get("ip")), (each["hostname"] for each in points if each.get("hostname"))
    )
