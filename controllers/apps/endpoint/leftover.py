"""Which RecordSets of an endpoint nobody needs any more, and which stay although their hostname belongs to another zone now. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from controllers.api.group import CORE_FINALIZER
from controllers.api.record_set import RecordSet
from controllers.api.zone import Zone
from controllers.apps.endpoint.choice import refusal_of
from controllers.apps.endpoint.inputs import EndpointInputs
from controllers.apps.endpoint.plan import HostnamePlan
from kube.object import ObjectKey


def former_zones(plan: HostnamePlan, inputs: EndpointInputs) -> list[Zone]:
    """Return the zones that have RecordSets of a hostname, stay, and are not the hostname's own; each once."""
    found: dict[ObjectKey, Zone] = {}
    for there in inputs.made_for(plan.hostname):
        zone = inputs.zone_of(there)
        if zone is None or zone.deleting or there.deleting:
            continue
        if plan.zone is None or zone.key != plan.zone.key:
            found[zone.key] = zone
    return list(found.values())


def leftovers(inputs: EndpointInputs, plans: Mapping[str, HostnamePlan]) -> Iterator[RecordSet]:
    """Yield the RecordSets that are no longer needed, with what came of applying the others known."""
    wanted = {each.key for plan in plans.values() for each in plan.wanted}
    for hostname, made in inputs.by_hostname.items():
        for there in made:
            if not there.deleting and there.key not in wanted and _is_over(there, hostname, plans, inputs):
                yield there


def _is_over(there: RecordSet, hostname: str | None, plans: Mapping[str, HostnamePlan], inputs: EndpointInputs) -> bool:
    """Say whether a RecordSet that nobody wants has nothing left to hold a name for."""
    if inputs.staying is None:
        return True
    if hostname is None:
        return False  # its zone is not there, and whoever took its annotation away did not say what it is for
    zone, plan = inputs.zone_of(there), plans.get(hostname)
    if plan is None or (zone is not None and zone.deleting):
        return True
    if not plan.resolved or plan.zone is None:
        return False
    if zone is not None and zone.key == plan.zone.key:
        return True
    if zone is not None and refusal_of(zone) is not None:
        # A refused zone goes on with the records that it has, and may be accepted again; it takes no others.
        return CORE_FINALIZER not in there.meta.finalizers
    return plan.programmed
