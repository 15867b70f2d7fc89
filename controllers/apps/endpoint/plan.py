"""What is to become of each hostname, and which RecordSets make it so. Pure: values in, values out.

A hostname that is in doubt keeps what was made for it: RecordSets go when the hostname goes, when their zone is going, or when others
have taken their place. Others in the same zone have done so once they are applied; others in another zone once they are Programmed
there, and until then the former ones follow the endpoint's targets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.endpoint import (
    ADOPTION_ANNOTATION,
    ENDPOINT_MANAGER,
    HOSTNAME_ANNOTATION,
    LABEL_LIMIT_CHARS,
    MANAGED_BY_LABEL,
    OWNER_NAME_LABEL,
    OWNER_NAMESPACE_LABEL,
    RETIREMENT_ANNOTATION,
    EndpointReason,
)
from controllers.api.endpoint_conversion import CONVERSION_KIND, ConversionInput, ConversionZone, Fragment
from controllers.api.group import RECORD_SETS
from controllers.api.record_set import RecordSet, RecordSetSpec
from controllers.api.zone import Zone
from controllers.apps.endpoint.answer import Converted, Unconverted
from controllers.apps.endpoint.choice import candidates, choose, refusal_of
from controllers.apps.endpoint.inputs import EndpointInputs, owner_of
from controllers.apps.hostname_list import object_to_hostname
from kube.object import ObjectKey
from kube.resource import ResourceRef
from zonemodel.name import Fqdn, relative_to

DIGEST_CHARS: Final = 10
COPIED_ANNOTATIONS: Final = (RETIREMENT_ANNOTATION,)


@dataclass(frozen=True, slots=True)
class Question:
    """A hostname that can be converted: by which API, and what it is asked."""

    zone: Zone
    api: ResourceRef
    given: ConversionInput


@dataclass(frozen=True, slots=True)
class Wanted:
    """One RecordSet as it has to be. `there` is the one of that name, if it exists."""

    key: ObjectKey
    spec: RecordSetSpec
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    fragment: int
    there: RecordSet | None

    @property
    def up_to_date(self) -> bool:
        """Whether the RecordSet is there and says all this."""
        there = self.there
        if there is None or there.deleting or there.spec != self.spec:
            return False
        stale = any(each in there.meta.annotations and each not in self.annotations for each in COPIED_ANNOTATIONS)
        return not stale and _holds(there.meta.labels, self.labels) and _holds(there.meta.annotations, self.annotations)

    @property
    def programmed(self) -> bool:
        """Whether the RecordSet is there as it has to be, and its provider has programmed just that."""
        if self.there is None or not self.up_to_date:
            return False
        found = find_condition(self.there.status.conditions, ConditionType.PROGRAMMED)
        current = found is not None and found.observed_generation == self.there.meta.generation
        return current and found is not None and found.status is ConditionStatus.TRUE

    def manifest(self) -> dict[str, Any]:
        """Return the RecordSet to be applied; one that was looked at must still be the same one then."""
        metadata: dict[str, Any] = {
            "namespace": self.key.namespace,
            "name": self.key.name,
            "labels": dict(self.labels),
            "annotations": dict(self.annotations),
        }
        if self.there is not None:
            metadata["uid"] = self.there.meta.uid
        ref = RECORD_SETS
        return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": self.spec.dump()}


@dataclass(frozen=True, slots=True)
class HostnamePlan:
    """One hostname: its zone, the RecordSets that it wants, or why it wants none.

    `former` are its RecordSets in zones that it does not belong to (any more), as they have to be for as long as they stay.
    """

    hostname: str
    zone: Zone | None
    wanted: tuple[Wanted, ...] = ()
    refusal: Unconverted | None = None
    former: tuple[Wanted, ...] = ()

    @property
    def resolved(self) -> bool:
        return self.refusal is None

    @property
    def programmed(self) -> bool:
        """Whether everything that it wants is there, and DNS has it."""
        return self.resolved and bool(self.wanted) and all(each.programmed for each in self.wanted)

    def refused(self, reason: EndpointReason, message: str) -> HostnamePlan:
        """Return this hostname with an objection that came up later; the first one stays."""
        return self if self.refusal is not None else replace(self, refusal=Unconverted(reason, message))


def question_of(hostname: str, inputs: EndpointInputs) -> Question | HostnamePlan:
    """Return what to ask for a hostname, or what is known to stand against it."""
    if fault := object_to_hostname(hostname):
        return _refused(hostname, None, EndpointReason.INVALID_HOSTNAME, f"The hostname {fault}.")
    zone = choose(hostname, inputs.zones_of)
    return question_in(zone, hostname, inputs) if zone is not None else _without_zone(hostname, inputs)


def question_in(zone: Zone, hostname: str, inputs: EndpointInputs) -> Question | HostnamePlan:
    """Return what to ask for a hostname in a zone that it lies within, or what stands against it."""
    provider = zone.spec.provider
    label = f"{provider.name}/{provider.version}"
    capabilities = inputs.capabilities_of(provider)
    if not capabilities:
        return _refused(
            hostname,
            zone,
            EndpointReason.CONVERSION_UNSUPPORTED,
            f"No EndpointProviderCapability says how endpoints are converted for {label}.",
        )
    if len(capabilities) > 1:
        names = ", ".join(sorted(each.meta.name for each in capabilities)[:3])
        return _refused(
            hostname,
            zone,
            EndpointReason.CAPABILITY_CONFLICT,
            f"{len(capabilities)} EndpointProviderCapabilities speak for {label} ({names}), allowed is one.",
        )
    conversion = capabilities[0].spec.conversion
    api = ResourceRef(
        conversion.group,
        conversion.version or provider.version,
        conversion.resource,
        CONVERSION_KIND,
        namespaced=False,
    )
    return Question(zone, api, _input(hostname, zone, inputs))


def plan_hostname(question: Question, converted: Converted, inputs: EndpointInputs) -> HostnamePlan:
    """Return what is to become of a hostname with the answer to its question."""
    hostname, zone = question.given.hostname, question.zone
    if isinstance(converted, Unconverted):
        return HostnamePlan(hostname, zone, refusal=converted)
    wanted = []
    for index, fragment in enumerate(converted):
        refusal = _object_to_grant(zone, fragment, inputs)
        if refusal is not None:
            return HostnamePlan(hostname, zone, refusal=refusal)
        each = _wanted(hostname, zone, index, fragment, inputs)
        if each.there is not None and owner_of(each.there) != inputs.key:
            return _refused(
                hostname,
                zone,
                EndpointReason.RECORD_SET_NOT_OWNED,
                f"RecordSet {each.key} exists already and was not made for this EndpointRecordSet; it stays as it is.",
            )
        wanted.append(each)
    return HostnamePlan(hostname, zone, tuple(wanted))


def _input(hostname: str, zone: Zone, inputs: EndpointInputs) -> ConversionInput:
    assert inputs.endpoint is not None, "only endpoints that are there have hostnames"
    name = relative_to(Fqdn(hostname), Fqdn(zone.spec.domain_name))
    assert name is not None, "the zone was chosen among the hostname's suffixes"
    return ConversionInput(
        hostname=hostname,
        name=name,
        zone=ConversionZone(domain_name=zone.spec.domain_name),
        targets=inputs.endpoint.spec.targets,
    )


def _without_zone(hostname: str, inputs: EndpointInputs) -> HostnamePlan:
    found = candidates(hostname, inputs.zones_of)
    for zone in found:
        refusal = refusal_of(zone)
        if refusal is not None and not zone.deleting:
            message = f"Zone {zone.key} is not accepted: {refusal.message or refusal.reason}"
            return _refused(hostname, None, EndpointReason.ZONE_NOT_ACCEPTED, message)
    if found:
        return _refused(hostname, None, EndpointReason.ZONE_DELETING, f"Zone {found[0].key} is being deleted.")
    return _refused(
        hostname, None, EndpointReason.ZONE_NOT_FOUND, "No Zone has a domain name that the hostname lies within."
    )


def _object_to_grant(zone: Zone, fragment: Fragment, inputs: EndpointInputs) -> Unconverted | None:
    """The Zone's own namespace needs no grant. Where a RecordSet is written to is no licence for whoever has it written there."""
    for namespace, labels in inputs.grantees.items():
        if namespace == zone.meta.namespace:
            continue
        if labels is None:
            return Unconverted(
                EndpointReason.NAMESPACE_NOT_RESOLVED, f"The labels of namespace {namespace} are not known yet."
            )
        verdict = inputs.surroundings.grant(zone, labels, fragment.name, fragment.type)
        if not verdict.accepted:
            return Unconverted(EndpointReason.NOT_ALLOWED_BY_ZONE, f"Namespace {namespace}: {verdict.message}")
    return None


def _wanted(hostname: str, zone: Zone, index: int, fragment: Fragment, inputs: EndpointInputs) -> Wanted:
    assert inputs.endpoint is not None, "only endpoints that are there want anything"
    name = record_set_name(inputs.key, hostname, zone, fragment)
    spec = {
        **fragment.dump(),
        "zoneRef": {"namespace": zone.meta.namespace, "name": zone.meta.name},
        "provider": zone.spec.provider.dump(),
        **({"adoption": {"enabled": True}} if _adopts(zone, inputs) else {}),
    }
    given = inputs.endpoint.meta.annotations
    return Wanted(
        key=ObjectKey(inputs.namespace, name),
        spec=RecordSetSpec.model_validate(spec),
        labels={
            MANAGED_BY_LABEL: ENDPOINT_MANAGER,
            OWNER_NAMESPACE_LABEL: inputs.key.namespace,
            OWNER_NAME_LABEL: inputs.key.name,
        },
        annotations={
            HOSTNAME_ANNOTATION: hostname,
            **{each: given[each] for each in COPIED_ANNOTATIONS if each in given},
        },
        fragment=index,
        there=inputs.record_set(name),
    )


def _adopts(zone: Zone, inputs: EndpointInputs) -> bool:
    """Say whether a zone's RecordSets take over what is there: when it says so, and its Provider knows how that is said."""
    if zone.meta.annotations.get(ADOPTION_ANNOTATION) != "enabled":
        return False
    version = inputs.provider_version(zone.spec.provider)
    schema = version.record_set.schemas.adoption if version is not None else None
    return schema is not None and "enabled" in schema.open_apiv3_schema.get("properties", {})


def record_set_name(owner: ObjectKey, hostname: str, zone: Zone, fragment: Fragment) -> str:
    """Return the one name that a RecordSet has; whatever is immutable in it makes another name."""
    provider = zone.spec.provider
    identity = (str(owner), hostname, str(zone.key), provider.name, provider.version, fragment.name, fragment.type)
    return digested_name(f"{owner.name}-{fragment.type.lower()}", identity)


def digested_name(stem: str, identity: tuple[str, ...]) -> str:
    """Return `stem` and a digest of what the name stands for, short enough for a label's value."""
    digest = hashlib.sha256("\0".join(identity).encode()).hexdigest()[:DIGEST_CHARS]
    return f"{stem[: LABEL_LIMIT_CHARS - DIGEST_CHARS - 1].rstrip('.-')}-{digest}"


def _refused(hostname: str, zone: Zone | None, reason: EndpointReason, message: str) -> HostnamePlan:
    return HostnamePlan(hostname, zone, refusal=Unconverted(reason, message))


def _holds(there: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(there.get(name) == value for name, value in wanted.items())
