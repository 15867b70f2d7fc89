"""What the status of an EndpointRecordSet says. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from pydantic import ValidationError

from controllers.api.condition import MESSAGE_LIMIT, Condition, ConditionStatus, merge_conditions
from controllers.api.endpoint import (
    LEFT_OUT_ANNOTATION,
    RESOLVED,
    UNKNOWN_REASONS,
    EndpointReason,
    EndpointRecordSet,
    EndpointRecordSetStatus,
    HostnameRecordSet,
    HostnameStatus,
    HostnameZone,
)
from controllers.api.record_set import RecordSet
from controllers.api.reference import FullRef
from controllers.api.zone import Zone
from controllers.apps.endpoint.inputs import EndpointInputs
from controllers.apps.endpoint.plan import HostnamePlan, Wanted
from controllers.apps.left_out import LIMIT, LeftOut

RECORDS_STAY = "What was published for it before stays as it is."


def status_of(
    endpoint: EndpointRecordSet, inputs: EndpointInputs, plans: Mapping[str, HostnamePlan], now: str
) -> EndpointRecordSetStatus:
    """Return the status with what came of every hostname, those that its source left out too."""
    before = {each.hostname: each for each in endpoint.status.hostnames}
    generation = endpoint.meta.generation
    found = [_hostname(plan, inputs, before.get(plan.hostname), generation, now) for _, plan in sorted(plans.items())]
    found += [
        _left_out(each, before.get(each.hostname), generation, now)
        for each in left_out_of(endpoint)
        if each.hostname not in plans
    ]
    return EndpointRecordSetStatus(
        observed_generation=generation,
        hostname_count=len(endpoint.spec.hostnames),
        hostnames=tuple(found),
        conditions=merge_conditions(endpoint.status.conditions, [_summary(plans, generation)], now),
    )


def left_out_of(endpoint: EndpointRecordSet) -> list[LeftOut]:
    """Return the hostnames that the source of an endpoint did not put in, each once; what says it otherwise says nothing.

    Whoever writes EndpointRecordSets can write the annotation, too, so it is worth no more than that.
    """
    try:
        listed = orjson.loads(endpoint.meta.annotations.get(LEFT_OUT_ANNOTATION) or "[]")
    except orjson.JSONDecodeError:
        return []
    found: dict[str, LeftOut] = {}
    for each in listed if isinstance(listed, list) else ():
        left_out = _parse_left_out(each)
        if left_out is not None:
            found.setdefault(left_out.hostname, left_out)
    return list(found.values())[:LIMIT]


def _parse_left_out(item: object) -> LeftOut | None:
    try:
        return LeftOut.model_validate(item)
    except ValidationError:
        return None


def _hostname(
    plan: HostnamePlan, inputs: EndpointInputs, before: HostnameStatus | None, generation: int, now: str
) -> HostnameStatus:
    made = _made(plan, inputs)
    reason, message = EndpointReason.RESOLVED, ""
    if plan.former and plan.resolved and plan.zone is not None:
        message = f"It moves: RecordSets in other zones stay until those in Zone {plan.zone.key} are Programmed."
    if plan.refusal is not None:
        reason = plan.refusal.reason
        message = f"{plan.refusal.message} {RECORDS_STAY}" if made else plan.refusal.message
    condition = _condition(reason, message, generation)
    return HostnameStatus(
        hostname=plan.hostname,
        zone=_zone(plan.zone) if plan.zone is not None else None,
        record_sets=tuple(made),
        conditions=merge_conditions(before.conditions if before is not None else (), [condition], now),
    )


def _made(plan: HostnamePlan, inputs: EndpointInputs) -> list[HostnameRecordSet]:
    if plan.wanted and plan.resolved:
        return [_record_set(each, inputs) for each in (*plan.wanted, *plan.former)]
    mine = sorted(inputs.made_for(plan.hostname), key=lambda each: each.spec.type)
    return [_kept(index, each) for index, each in enumerate(mine)]


def _record_set(wanted: Wanted, inputs: EndpointInputs) -> HostnameRecordSet:
    there = inputs.surroundings.record_sets.get(wanted.key)
    return HostnameRecordSet(
        ref=FullRef(namespace=wanted.key.namespace, name=wanted.key.name),
        name=wanted.spec.name,
        type=wanted.spec.type,
        fragment=wanted.fragment,
        conditions=there.status.conditions if there is not None else (),
    )


def _kept(index: int, there: RecordSet) -> HostnameRecordSet:
    return HostnameRecordSet(
        ref=FullRef(namespace=there.meta.namespace, name=there.meta.name),
        name=there.spec.name,
        type=there.spec.type,
        fragment=index,
        conditions=there.status.conditions,
    )


def _zone(zone: Zone) -> HostnameZone:
    return HostnameZone(
        ref=FullRef(namespace=zone.meta.namespace, name=zone.meta.name),
        domain_name=zone.spec.domain_name,
        provider=zone.spec.provider,
    )


def _left_out(left_out: LeftOut, before: HostnameStatus | None, generation: int, now: str) -> HostnameStatus:
    condition = _condition(left_out.reason, left_out.message, generation)
    current = before.conditions if before is not None else ()
    return HostnameStatus(hostname=left_out.hostname, conditions=merge_conditions(current, [condition], now))


def _summary(plans: Mapping[str, HostnamePlan], generation: int) -> Condition:
    """One reason that all failures share is the summary's own."""
    failed = [(hostname, plan.refusal) for hostname, plan in sorted(plans.items()) if plan.refusal is not None]
    if not failed:
        return _condition(EndpointReason.RESOLVED, "", generation)
    reasons = {refusal.reason for _, refusal in failed}
    reason = reasons.pop() if len(reasons) == 1 else EndpointReason.HOSTNAMES_NOT_RESOLVED
    hostname, first = failed[0]
    count = f"{len(failed)} of {len(plans)} hostnames are not resolved; " if len(plans) > 1 else ""
    return _condition(reason, f"{count}{hostname}: {first.message}", generation)


def _condition(reason: EndpointReason, message: str, generation: int) -> Condition:
    if reason is EndpointReason.RESOLVED:
        status = ConditionStatus.TRUE
    else:
        status = ConditionStatus.UNKNOWN if reason in UNKNOWN_REASONS else ConditionStatus.FALSE
    return Condition(
        type=RESOLVED,
        status=status,
        observed_generation=generation,
        reason=reason,
        message=message[:MESSAGE_LIMIT],
    )
