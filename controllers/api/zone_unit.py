"""`ZoneUnit`: the ledger of one zone, what the provider has to make true and what it made of it.

The core composer writes spec, the provider's controller writes status. A zone larger than one object spreads over parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Final, Protocol, TypeVar

from pydantic import Field

from controllers.api.condition import Conditions
from controllers.api.object import ApiObject, parser
from controllers.api.record_withdrawal_item import WITHDRAWAL_KEYS, UnitWithdrawal, UnitWithdrawalStatus
from controllers.api.reference import FullRef, ProviderRef
from kube.object import ObjectKey
from zonemodel.model import Model
from zonemodel.record import TTL_MAX_S, RecordBodies, RecordType

PART_NAME: Final = re.compile(r"(?P<zone>.+)\.part-(?P<part>[0-9]+)\Z")
ITEM_KEYS: Final = ["recordSetNamespace", "recordSetName"]


def part_name(zone: str, part: int) -> str:
    """Return the object name of a part: the zone's name for part 0, else `<zone>.part-<k>`."""
    return zone if part == 0 else f"{zone}.part-{part}"


class UnitZone(Model):
    """The zone as composed from its claim."""

    ref: Annotated[FullRef, Field(description="The Zone that the ledger belongs to.")]
    observed_generation: Annotated[int, Field(ge=0, description="Generation of the Zone that was composed.")]
    domain_name: Annotated[str, Field(description="Apex of the zone.")]
    zone_class_ref: Annotated[FullRef, Field(description="The ZoneClass that provides the zone.")]
    adoption: Annotated[
        dict[str, Any] | None, Field(description="Existing zone to take over, in the storage version of the Provider.")
    ] = None


class UnitRecordSet(RecordBodies):
    """One record set that the zone owns, as composed from its claim."""

    record_set_namespace: Annotated[str, Field(description="Namespace of the RecordSet.")]
    record_set_name: Annotated[str, Field(description="Name of the RecordSet.")]
    observed_generation: Annotated[int, Field(ge=0, description="Generation of the RecordSet that was composed.")]
    name: Annotated[str, Field(description="Name relative to the zone.")]
    type: Annotated[RecordType, Field(description="Record type.")]
    ttl: Annotated[int | None, Field(ge=1, le=TTL_MAX_S, description="Time to live in seconds.")] = None
    options: Annotated[
        dict[str, Any] | None, Field(description="Settings of the provider, in the storage version of the Provider.")
    ] = None
    adoption: Annotated[
        dict[str, Any] | None,
        Field(description="Existing records to take over, in the storage version of the Provider."),
    ] = None
    allowed: Annotated[
        bool,
        Field(
            description="False when a policy no longer allows the records: they are neither created nor changed, nor deleted.",
        ),
    ] = True
    deletion_requested: Annotated[bool, Field(description="True when the provider has to delete the records.")] = False

    @cached_property
    def key(self) -> ObjectKey:
        return ObjectKey(self.record_set_namespace, self.record_set_name)


class ZoneUnitSpec(Model):
    """What the provider has to make true."""

    provider: Annotated[ProviderRef, Field(description="Provider and storage version that payloads are written for.")]
    zone: Annotated[UnitZone, Field(description="The zone.")]
    part: Annotated[int, Field(ge=0, description="Number of this part; 0 carries the zone itself.")] = 0
    parts: Annotated[
        tuple[int, ...],
        Field(
            description="Numbers of the further parts that exist, on part 0 only.",
            json_schema_extra={"x-kubernetes-list-type": "set"},
        ),
    ] = ()
    record_sets: Annotated[
        tuple[UnitRecordSet, ...],
        Field(
            description="Record sets that the zone owns and this part holds.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ITEM_KEYS},
        ),
    ] = ()
    withdrawals: Annotated[
        tuple[UnitWithdrawal, ...],
        Field(
            description="Names that must not point at an address any more, on part 0 only.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": WITHDRAWAL_KEYS},
        ),
    ] = ()


class PrivateProviderData(Model):
    """What the provider found out, public and private."""

    data: Annotated[dict[str, Any] | None, Field(description="Public facts, projected to the claim.")] = None
    state: Annotated[dict[str, Any] | None, Field(description="Private notes of the provider's controller.")] = None


class UnitZoneStatus(Model):
    """The provider's result for the zone."""

    conditions: Conditions = ()
    name_servers: Annotated[
        tuple[str, ...],
        Field(
            description="Names of the zone's authoritative servers.",
            json_schema_extra={"x-kubernetes-list-type": "set"},
        ),
    ] = ()
    provider: Annotated[PrivateProviderData | None, Field(description="Provider's facts about the zone.")] = None


class UnitRecordSetStatus(Model):
    """The provider's result for one record set."""

    record_set_namespace: Annotated[str, Field(description="Namespace of the RecordSet.")]
    record_set_name: Annotated[str, Field(description="Name of the RecordSet.")]
    observed_generation: Annotated[int, Field(ge=0, description="Generation of the composed item that was judged.")]
    conditions: Conditions = ()
    provider: Annotated[PrivateProviderData | None, Field(description="Provider's facts about the records.")] = None

    @cached_property
    def key(self) -> ObjectKey:
        return ObjectKey(self.record_set_namespace, self.record_set_name)


class StateOnly(Model):
    """Private notes of the provider's controller."""

    state: Annotated[dict[str, Any] | None, Field(description="Private notes of the provider's controller.")] = None


class ZoneUnitStatus(Model):
    """What the provider made of the ledger."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation of this part that was judged.")] = (
        None
    )
    conditions: Conditions = ()
    provider: Annotated[StateOnly | None, Field(description="Provider's notes about the whole zone.")] = None
    zone: Annotated[UnitZoneStatus | None, Field(description="Result for the zone, on part 0 only.")] = None
    record_sets: Annotated[
        tuple[UnitRecordSetStatus, ...],
        Field(
            description="Results for the record sets of this part.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ITEM_KEYS},
        ),
    ] = ()
    withdrawals: Annotated[
        tuple[UnitWithdrawalStatus, ...],
        Field(
            description="Results for the withdrawals, on part 0 only.",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": WITHDRAWAL_KEYS},
        ),
    ] = ()


ZoneUnit = ApiObject[ZoneUnitSpec, ZoneUnitStatus]
parse_zone_unit = parser(ZoneUnitSpec, ZoneUnitStatus)


class ZoneUnitParser:
    """Parses ZoneUnits and keeps what did not change: an equal item or result is the very same object as before.

    A ledger of a thousand items changes one of them at a time; whoever compares two versions then compares identities.
    """

    def __init__(self) -> None:
        self._last: dict[ObjectKey, ZoneUnit] = {}

    def __call__(self, obj: Mapping[str, Any]) -> ZoneUnit:
        """Parse like `parse_zone_unit`."""
        unit = parse_zone_unit(obj)
        if (last := self._last.get(unit.key)) is not None:
            spec = unit.spec.model_copy(update={"record_sets": _kept(last.spec.record_sets, unit.spec.record_sets)})
            status = unit.status.model_copy(
                update={"record_sets": _kept(last.status.record_sets, unit.status.record_sets)}
            )
            unit = replace(unit, spec=spec, status=status)
        self._last[unit.key] = unit
        return unit

    def forget(self, key: ObjectKey) -> None:
        """Drop what is kept of a unit that has gone."""
        self._last.pop(key, None)


class _Keyed(Protocol):
    @property
    def key(self) -> ObjectKey: ...


ItemT = TypeVar("ItemT", bound=_Keyed)


def _kept(old: Sequence[ItemT], new: Sequence[ItemT]) -> tuple[ItemT, ...]:
    """Return `new` with its items replaced by equal ones of `old`."""
    before = {item.key: item for item in old}
    return tuple(known if (known := before.get(item.key)) is not None and known == item else item for item in new)
