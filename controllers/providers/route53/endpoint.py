"""What endpoints become in Route 53: addresses plain records, load balancers of AWS aliases. Pure; never asks AWS."""

from __future__ import annotations

from typing import Any, Final

from controllers.api.endpoint_conversion import (
    DEFAULT_TTL_S,
    ConversionInput,
    EndpointConversion,
    Fragment,
    Unconvertible,
    address_fragments,
    split_targets,
)
from controllers.ledger.binding import Binding
from controllers.providers.route53.binding import PROVIDER_NAME
from controllers.providers.route53.load_balancer import load_balancer_of
from zonemodel.record import RecordType


def convert(given: ConversionInput) -> tuple[Fragment, ...] | Unconvertible:
    """Return A and AAAA records of the addresses, or A and AAAA aliases of the one load balancer."""
    split = split_targets(given)
    if isinstance(split, Unconvertible):
        return split
    addresses, names = split
    if addresses:
        return address_fragments(given.name, addresses, DEFAULT_TTL_S)
    if len(names) > 1:
        return Unconvertible("SeveralHostnames", f"An alias has one target, found {len(names)} names.")
    balancer = load_balancer_of(names[0])
    if balancer is None:
        return Unconvertible(
            "UnknownAliasTarget", f"{names[0]} is not the name of an Elastic Load Balancer, so there is no alias to it."
        )
    if balancer.zone_id is None:
        return Unconvertible(
            "UnknownRegion",
            f"{names[0]} is an Elastic Load Balancer in the region {balancer.region}, whose hosted zone ID is not known here, "
            "so there is no alias to it.",
        )
    options = _alias(names[0], balancer.zone_id)
    return tuple(Fragment(type=each, name=given.name, options=options) for each in (RecordType.A, RecordType.AAAA))


def _alias(hostname: str, zone_id: str) -> dict[str, Any]:
    return {"alias": {"dnsName": f"{hostname}.", "hostedZoneID": zone_id, "evaluateTargetHealth": False}}


ENDPOINT: Final = EndpointConversion(Binding.of(PROVIDER_NAME).provider, convert)
