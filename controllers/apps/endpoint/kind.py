"""The endpoint kinds as an installation has them: definitions, and what admission says beyond their schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any, Final

from controllers.api.condition import MESSAGE_LIMIT, ConditionStatus
from controllers.api.crd import AGE, STANDING, Column, Kind, condition_column
from controllers.api.endpoint import (
    ENDPOINT_PROVIDER_CAPABILITIES,
    ENDPOINT_RECORD_SETS,
    HOSTNAMES_LIMIT,
    LABEL_LIMIT_CHARS,
    RESOLVED,
    TARGETS_LIMIT,
    UNKNOWN_REASONS,
    EndpointProviderCapabilitySpec,
    EndpointReason,
    EndpointRecordSetSpec,
    EndpointRecordSetStatus,
    TargetType,
)
from controllers.apps.hostname_list import object_to_hostname
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    Field,
    judge_choice,
    judge_duplicates,
    require_integer,
    require_list,
    require_object,
    require_object_name,
    require_text,
)
from controllers.core.providercontract.own_kind import OwnKind
from zonemodel.name import object_to_target

Manifest = Mapping[str, Any]

HOSTNAME: Final = "an absolute name: lowercase, no trailing dot, xn-- for IDN; the first label may be *"
ADDRESS: Final = "an IPv4 or IPv6 address in canonical form (RFC 5952 for IPv6), without a zone"
TARGET_NAME: Final = "an absolute name: lowercase, no trailing dot"
NAME: Final = f"a name of at most {LABEL_LIMIT_CHARS} characters, since it stands in a label of what is made for it"

ENDPOINT_KIND: Final = Kind(
    ENDPOINT_RECORD_SETS,
    "Hostnames to publish with what they point at; the zones are found by the hostnames.",
    EndpointRecordSetSpec,
    EndpointRecordSetStatus,
    (
        Column("Hostnames", ".status.hostnameCount", "integer"),
        condition_column(RESOLVED),
        *STANDING,
    ),
    short_names=("ers",),
    strict=False,
)
CAPABILITY_KIND: Final = Kind(
    ENDPOINT_PROVIDER_CAPABILITIES,
    "Where endpoints are converted for a provider version.",
    EndpointProviderCapabilitySpec,
    None,
    (
        Column("Provider", ".spec.provider.name"),
        Column("Version", ".spec.provider.version"),
        Column("Group", ".spec.conversion.group"),
        AGE,
    ),
)


def judge_endpoint(new: Manifest, old: Manifest | None) -> list[Fault]:
    """Return everything that is wrong with an EndpointRecordSet."""
    root = Field("", new)
    spec = root.child("spec")
    faults = list(_judge_name(root.at("metadata.name"))) if old is None else []
    hostnames, targets = spec.child("hostnames"), spec.child("targets")
    faults += require_list(hostnames, "1 or more hostnames", HOSTNAMES_LIMIT)
    for item in hostnames.items():
        faults += _judge_hostname(item)
    faults += judge_duplicates(list(hostnames.items()), lambda item: item.text, "hostname")
    faults += require_list(targets, "1 or more targets", TARGETS_LIMIT)
    for item in targets.items():
        faults += _judge_target(item)
    faults += judge_duplicates(list(targets.items()), _target_identity, "target")
    return faults


def judge_endpoint_status(new: Manifest, old: Manifest | None) -> list[Fault]:
    """Return everything that is wrong with the status of an EndpointRecordSet; `old` makes no difference."""
    root = Field("", new)
    status, generation = root.child("status"), root.at("metadata.generation").integer or 0
    faults: list[Fault] = []
    if status.child("observedGeneration").present:
        faults += require_integer(status.child("observedGeneration"), 0, generation)
    places = [status, *status.child("hostnames").items()]
    faults += judge_duplicates(places[1:], lambda item: item.child("hostname").text, "hostname")
    for place in places:
        conditions = list(place.child("conditions").items())
        for condition in conditions:
            faults += _judge_condition(condition, generation)
        faults += judge_duplicates(conditions, lambda item: item.child("type").text, "condition type")
    return faults


def judge_capability(new: Manifest, old: Manifest | None) -> list[Fault]:
    """Return everything that is wrong with an EndpointProviderCapability; that it is the only one is found out later."""
    spec = Field("", new).child("spec")
    faults = list(require_object(spec.child("provider"), "name and version of a Provider"))
    faults += require_object_name(spec.at("provider.name"))
    faults += require_text(spec.at("provider.version"), "a version of the Provider")
    faults += require_object_name(spec.at("conversion.group"))
    faults += require_text(spec.at("conversion.resource"), "the plural name of a resource")
    return faults


KINDS: Final = (
    OwnKind(ENDPOINT_KIND, judge_endpoint, judge_endpoint_status),
    OwnKind(CAPABILITY_KIND, judge_capability),
)


def _judge_name(name: Field) -> Iterator[Fault]:
    if name.text is not None and len(name.text) > LABEL_LIMIT_CHARS:
        yield name.fault(NAME, FaultReason.TOO_LONG)


def _judge_hostname(hostname: Field) -> Iterator[Fault]:
    if hostname.text is None:
        yield hostname.fault(HOSTNAME, FaultReason.TYPE_INVALID)
    elif fault := object_to_hostname(hostname.text):
        yield hostname.fault(f"{HOSTNAME}; it {fault}")


def _judge_target(target: Field) -> Iterator[Fault]:
    absent = list(require_object(target, "type and value"))
    if absent:
        yield from absent
        return
    kind, value = target.child("type"), target.child("value")
    yield from require_text(kind, f"one of {', '.join(TargetType)}")
    yield from judge_choice(kind, [each.value for each in TargetType])
    yield from require_text(value, ADDRESS if kind.text == TargetType.IP_ADDRESS else TARGET_NAME)
    if not value.text:
        return
    if kind.text == TargetType.IP_ADDRESS and not _is_canonical(value.text):
        yield value.fault(ADDRESS)
    if kind.text == TargetType.HOSTNAME and (fault := _object_to_name(value.text)):
        yield value.fault(f"{TARGET_NAME}; it {fault}")


def _target_identity(target: Field) -> tuple[str | None, str | None]:
    return target.child("type").text, target.child("value").text


def _object_to_name(text: str) -> str | None:
    try:
        ip_address(text)
    except ValueError:
        return object_to_target(text)
    return "is an address, whose type is IPAddress"


def _is_canonical(text: str) -> bool:
    try:
        return "%" not in text and str(ip_address(text)) == text
    except ValueError:
        return False


def _judge_condition(condition: Field, generation: int) -> Iterator[Fault]:
    kind, status, reason = (condition.child(name) for name in ("type", "status", "reason"))
    if kind.text != RESOLVED:
        yield kind.fault(RESOLVED, FaultReason.NOT_SUPPORTED)
        return
    allowed = _reasons_of(status.text)
    if not allowed:
        yield status.fault("True, False or Unknown", FaultReason.NOT_SUPPORTED)
    elif reason.text not in allowed:
        words = f"with {RESOLVED}={status.text} one of {', '.join(sorted(allowed))}"
        yield reason.fault(words, FaultReason.NOT_SUPPORTED)
    if condition.child("observedGeneration").present:
        yield from require_integer(condition.child("observedGeneration"), 0, generation)
    message = condition.child("message")
    if message.text is not None and len(message.text) > MESSAGE_LIMIT:
        yield message.fault(f"at most {MESSAGE_LIMIT} characters", FaultReason.TOO_LONG)


def _reasons_of(status: str | None) -> frozenset[str]:
    match status:
        case ConditionStatus.TRUE:
            return frozenset({EndpointReason.RESOLVED})
        case ConditionStatus.UNKNOWN:
            return frozenset(UNKNOWN_REASONS)
        case ConditionStatus.FALSE:
            return frozenset(EndpointReason) - UNKNOWN_REASONS - {EndpointReason.RESOLVED}
        case _:
            return frozenset()
