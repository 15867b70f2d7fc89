"""`EndpointRecordSetConversion`: the question what records an endpoint becomes at a provider, and its answer.

Created and answered in one request, stored nowhere. Owns the shapes and how a provider states its conversion. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, ip_address
from typing import Annotated, Any, Final

from pydantic import Field

from controllers.api.endpoint import (
    ENDPOINT_PROVIDER_CAPABILITIES,
    ENDPOINT_VERSION,
    TARGETS_LIMIT,
    Target,
    TargetType,
)
from controllers.api.reference import ProviderRef
from kube.resource import ResourceRef
from zonemodel.model import Model
from zonemodel.record import TTL_MAX_S, AAAABody, ABody, CNAMEBody, RecordType

CONVERSION_KIND: Final = "EndpointRecordSetConversion"
CONVERSION_PLURAL: Final = "endpointrecordsetconversions"
DEFAULT_TTL_S: Final = 300
FRAGMENTS_LIMIT: Final = 10
CONVERTED_TYPES: Final = (RecordType.A, RecordType.AAAA, RecordType.CNAME)


class ConversionStatus(StrEnum):
    """Whether an endpoint could be converted."""

    SUCCESS = "Success"
    FAILURE = "Failure"


class ConversionZone(Model):
    """The zone that the records are for."""

    domain_name: Annotated[str, Field(min_length=1, max_length=253, description="Apex of the zone.")]


class ConversionInput(Model):
    """One hostname and its targets."""

    hostname: Annotated[str, Field(min_length=1, max_length=253, description="The hostname, absolute.")]
    name: Annotated[str, Field(min_length=1, max_length=253, description="The hostname relative to the zone.")]
    zone: Annotated[ConversionZone, Field(description="Zone of the hostname.")]
    targets: Annotated[
        tuple[Target, ...],
        Field(
            min_length=1,
            max_length=TARGETS_LIMIT,
            description="What the hostname points at.",
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ]


class ConversionSpec(Model):
    """The question."""

    uid: Annotated[str, Field(min_length=1, max_length=128, description="Identifies the question in the answer.")]
    input: Annotated[ConversionInput, Field(description="What is to be converted.")]


class Fragment(Model):
    """Content of one RecordSet."""

    type: Annotated[RecordType, Field(description="A, AAAA or CNAME.")]
    name: Annotated[str, Field(description="Name relative to the zone, that of the input.")]
    ttl: Annotated[int | None, Field(ge=1, le=TTL_MAX_S, description="Time to live in seconds.")] = None
    a: Annotated[ABody | None, Field(description="Body of an A record set.")] = None
    aaaa: Annotated[AAAABody | None, Field(description="Body of an AAAA record set.")] = None
    cname: Annotated[CNAMEBody | None, Field(description="Body of a CNAME record set.")] = None
    options: Annotated[dict[str, Any] | None, Field(description="Settings of the provider.")] = None


class ConversionResult(Model):
    """Whether it could be converted, and why not."""

    status: Annotated[ConversionStatus, Field(description="Success or Failure.")]
    reason: Annotated[str, Field(max_length=128, description="Why, as one CamelCase word for programs.")] = ""
    message: Annotated[str, Field(max_length=2048, description="Why, for people.")] = ""


class ConversionOutput(Model):
    """What it was converted into."""

    fragments: Annotated[
        tuple[Fragment, ...],
        Field(
            max_length=FRAGMENTS_LIMIT,
            description="Contents of RecordSets.",
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ] = ()


class ConversionAnswer(Model):
    """The answer."""

    uid: Annotated[str, Field(description="That of the question.")]
    result: Annotated[ConversionResult, Field(description="Whether it could be converted.")]
    output: Annotated[ConversionOutput | None, Field(description="Present on success.")] = None


@dataclass(frozen=True, slots=True)
class Unconvertible:
    """Why a provider has no records for an endpoint: one CamelCase word and a sentence."""

    reason: str
    message: str


Convert = Callable[[ConversionInput], tuple[Fragment, ...] | Unconvertible]
"""A provider's conversion: pure, and quick enough to run between two other requests."""


@dataclass(frozen=True, slots=True)
class EndpointConversion:
    """How one provider version converts endpoints. `provider` is what Zones name; the API's group is made from its name."""

    provider: ProviderRef
    convert: Convert

    @property
    def resource(self) -> ResourceRef:
        """The cluster-scoped resource that questions are created in."""
        group = f"endpoint.{self.provider.name}"
        return ResourceRef(group, ENDPOINT_VERSION, CONVERSION_PLURAL, CONVERSION_KIND, namespaced=False)

    def capability(self) -> dict[str, Any]:
        """Return the EndpointProviderCapability that leads to the API, ready to be applied."""
        ref = ENDPOINT_PROVIDER_CAPABILITIES
        conversion = {"group": self.resource.group, "version": self.resource.version, "resource": CONVERSION_PLURAL}
        return {
            "apiVersion": ref.api_version,
            "kind": ref.kind,
            "metadata": {"name": f"{self.provider.name}-{self.provider.version}"},
            "spec": {"provider": self.provider.dump(), "conversion": conversion},
        }


def address_fragments(name: str, addresses: tuple[str, ...], ttl_s: int) -> tuple[Fragment, ...]:
    """Return the A and AAAA fragments of addresses, each address once and in their order. Raises ValueError for no address."""
    parsed = list(dict.fromkeys(map(ip_address, addresses)))
    four = tuple(str(each) for each in parsed if isinstance(each, IPv4Address))
    six = tuple(str(each) for each in parsed if not isinstance(each, IPv4Address))
    found = []
    if four:
        found.append(Fragment(type=RecordType.A, name=name, ttl=ttl_s, a=ABody(addresses=four)))
    if six:
        found.append(Fragment(type=RecordType.AAAA, name=name, ttl=ttl_s, aaaa=AAAABody(addresses=six)))
    return tuple(found)


def split_targets(given: ConversionInput) -> tuple[tuple[str, ...], tuple[str, ...]] | Unconvertible:
    """Return the addresses and the names among the targets, each once; an endpoint is reached by one kind only."""
    addresses = tuple(dict.fromkeys(each.value for each in given.targets if each.type is TargetType.IP_ADDRESS))
    names = tuple(dict.fromkeys(each.value for each in given.targets if each.type is TargetType.HOSTNAME))
    if addresses and names:
        return Unconvertible("MixedTargets", "The targets are addresses and names; allowed are addresses, or names.")
    try:
        for each in addresses:
            ip_address(each)
    except ValueError:
        return Unconvertible("InvalidTarget", f"The target {each!r} is no IPv4 or IPv6 address.")
    return addresses, names


def convert_plainly(
    given: ConversionInput, *, apex_alias: bool, ttl_s: int = DEFAULT_TTL_S
) -> tuple[Fragment, ...] | Unconvertible:
    """Convert as plain DNS does it: addresses to A and AAAA, one name to a CNAME; at the apex that only with `apex_alias`."""
    split = split_targets(given)
    if isinstance(split, Unconvertible):
        return split
    addresses, names = split
    if addresses:
        return address_fragments(given.name, addresses, ttl_s)
    if len(names) > 1:
        return Unconvertible("SeveralHostnames", f"A CNAME has one target, found {len(names)} names.")
    if given.name == "@" and not apex_alias:
        return Unconvertible("ApexHostname", f"{given.hostname} is the apex of its zone, where no CNAME can stand.")
    cname = CNAMEBody(target=names[0])
    return (Fragment(type=RecordType.CNAME, name=given.name, ttl=ttl_s, cname=cname),)
