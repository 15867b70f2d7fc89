"""Validation of the status of claims and classes: the fields that every controller writes alike.

Provider data and reasons are judged by the storage version of the Provider, since it is the one that controllers write in. What
an update leaves as it was is not judged again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.api.reason import RECORD_SET_REASONS, ZONE_CLASS_REASONS, ZONE_REASONS
from controllers.core.admission.claim import Manifest
from controllers.core.admission.condition import AddsReason, judge_conditions
from controllers.core.admission.record_name import require_host
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field, judge_duplicates, require_integer, require_list
from controllers.core.providercontract.resolution import Unresolved
from controllers.core.providercontract.target import Target

NAME_SERVER_LIMIT: Final = 64

Storage = Contract | Unresolved | None
"""The storage version of the object's Provider, why there is none, or None when the object names no Provider."""


def validate_zone_status(new: Manifest, old: Manifest | None, storage: Storage) -> list[Fault]:
    """Return everything that is wrong with the status of a Zone; `old` is the stored object."""
    status, before = _status(new), _status(old)
    conditions, data = status.child("conditions"), status.at("provider.data")
    faults = list(_judge_generation(status, new))
    if not _same(conditions, before.child("conditions")):
        faults += judge_conditions(conditions, ZONE_REASONS, adds_reason(storage, Target.ZONE), generation_of(new))
    faults += judge_name_servers(status.child("nameServers"))
    if not _same(data, before.at("provider.data")):
        faults += judge_data(data, storage, Target.ZONE)
    faults += _forbid_state(status)
    return faults


def validate_record_set_status(new: Manifest, old: Manifest | None, storage: Storage) -> list[Fault]:
    """Return everything that is wrong with the status of a RecordSet; `old` is the stored object."""
    status, before = _status(new), _status(old)
    conditions, data = status.child("conditions"), status.at("provider.data")
    faults = list(_judge_generation(status, new))
    faults += _judge_zone(status.child("zone"), new)
    if not _same(conditions, before.child("conditions")):
        adds = adds_reason(storage, Target.RECORD_SET)
        faults += judge_conditions(conditions, RECORD_SET_REASONS, adds, generation_of(new))
    if not _same(data, before.at("provider.data")):
        faults += judge_data(data, storage, Target.RECORD_SET)
    faults += _forbid_state(status)
    return faults


def validate_zone_class_status(new: Manifest) -> list[Fault]:
    """Return everything that is wrong with the status of a ZoneClass."""
    status = _status(new)
    faults = list(_judge_generation(status, new))
    faults += judge_conditions(status.child("conditions"), ZONE_CLASS_REASONS, lambda *_: False, generation_of(new))
    return faults


def generation_of(manifest: Manifest) -> int:
    """Return `metadata.generation`, 0 when there is none."""
    return Field("", manifest).at("metadata.generation").integer or 0


def adds_reason(storage: Storage, target: Target) -> AddsReason:
    """Return what tells whether the Provider adds a reason for conditions of a kind."""
    if not isinstance(storage, Contract):
        return lambda *_: False
    return lambda kind, status, reason: storage.adds_reason(target, kind, status, reason)


def judge_data(data: Field, storage: Storage, target: Target) -> Iterator[Fault]:
    """Object to public provider data that the storage version does not describe, or that nothing describes."""
    if isinstance(storage, Contract):
        yield from storage.judge_status_data(target, data)
    elif data.present and data.value != {}:
        why = f": {storage.message}" if storage else ""
        yield data.fault(f"nothing while no Provider describes it{why}", FaultReason.INVALID_PROVIDER)


def judge_name_servers(servers: Field) -> Iterator[Fault]:
    """Object to names of servers that are not canonical or stand twice."""
    if not servers.present or servers.value == []:
        return
    faults = list(require_list(servers, "a list of names of servers", NAME_SERVER_LIMIT))
    yield from faults
    if faults:
        return
    items = list(servers.items())
    for item in items:
        yield from require_host(item)
    yield from judge_duplicates(items, lambda item: item.text, "name server")


def _status(manifest: Manifest | None) -> Field:
    return Field("", manifest).child("status")


def _same(field: Field, before: Field) -> bool:
    return field.value == before.value


def _judge_generation(status: Field, manifest: Manifest) -> Iterator[Fault]:
    """Object to an observed generation that the object has not reached."""
    observed = status.child("observedGeneration")
    if observed.present:
        yield from require_integer(observed, 0, generation_of(manifest))


def _judge_zone(zone: Field, manifest: Manifest) -> Iterator[Fault]:
    """Object to a zone that is not the one of the spec, and to anything beside its reference."""
    root = Field("", manifest)
    reference = root.at("spec.zoneRef")
    expected = {
        "namespace": reference.child("namespace").text or root.at("metadata.namespace").text,
        "name": reference.child("name").text,
    }
    for name in zone.names():
        if name != "ref":
            yield zone.child(name).fault("only ref", FaultReason.FORBIDDEN)
    ref = zone.child("ref")
    if not ref.present:
        return
    for name in ref.names():
        if name not in expected:
            yield ref.child(name).fault("only namespace and name", FaultReason.FORBIDDEN)
    for name, value in expected.items():
        if ref.child(name).value != value:
            yield ref.child(name).fault(f'"{value}", as spec.zoneRef says')


def _forbid_state(status: Field) -> Iterator[Fault]:
    """Object to anything of the provider's beside its public data: private state has its place in the ledger."""
    provider = status.child("provider")
    for name in provider.names():
        if name != "data":
            yield provider.child(name).fault("only data; private state stands in the ZoneUnit", FaultReason.FORBIDDEN)
