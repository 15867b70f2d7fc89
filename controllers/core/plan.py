"""What a change of claims would do: the composition of every zone as it is, and as it would be, side by side.

Pure; nothing here reads or writes an API. What a provider's controller will say is not known, so a class that is new or changed is taken
to be accepted, and the plan names it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from controllers.api.condition import Condition, ConditionStatus, ConditionType
from controllers.api.provider import ConversionWebhook, Provider
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.record_withdrawal import RecordWithdrawal
from controllers.api.record_withdrawal_waiver import RecordWithdrawalWaiver
from controllers.api.verdict import ACCEPTED, Verdict
from controllers.api.zone import Zone
from controllers.api.zone_class import ZoneClass, ZoneClassStatus
from controllers.api.zone_unit import UnitRecordSet, ZoneUnit
from controllers.core.compose import Composition, compose
from controllers.core.guard import confirmation_of
from controllers.core.inputs import ZoneInputs, class_key_of, resolve, versions_named_by, zone_key_of
from controllers.core.providercontract.contract import Contract, Contracts
from controllers.core.providercontract.conversion.request import asked_of
from controllers.core.providercontract.conversion.storage import plan_conversion
from controllers.core.providercontract.target import Target
from controllers.core.withdrawal.informer import zone_key_of as zone_of_withdrawal
from controllers.core.withdrawal.outlook import Side, WithdrawalPlan, plan_withdrawals
from kube.object import ObjectKey, ObjectMeta


@dataclass(frozen=True, slots=True)
class World:
    """Everything that composition reads, at one moment, by key."""

    providers: Mapping[ObjectKey, Provider]
    zone_classes: Mapping[ObjectKey, ZoneClass]
    zones: Mapping[ObjectKey, Zone]
    record_sets: Mapping[ObjectKey, RecordSet]
    zone_units: Mapping[ObjectKey, ZoneUnit]
    namespaces: Mapping[ObjectKey, ObjectMeta]
    withdrawals: Mapping[ObjectKey, RecordWithdrawal] = field(default_factory=dict)
    waivers: Mapping[ObjectKey, RecordWithdrawalWaiver] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Told:
    """Claims that are told about in any case."""

    record_sets: frozenset[ObjectKey]
    withdrawals: frozenset[ObjectKey]


class Effect(StrEnum):
    """What would happen to a zone, or to records in it."""

    NONE = "none"
    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that would be different; None stands for a field that is not there. A list is one value."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """What would happen to the records of one RecordSet; `verdict` is core's own, None where nothing is to be said of a claim."""

    key: ObjectKey
    type: str
    owner: str
    effect: Effect
    changes: tuple[FieldChange, ...]
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class ZonePlan:
    """What would happen to one zone; `untouched` counts the claims that neither `record_sets` nor `withdrawals` tell about.

    `verdict` is core's own on the Zone, None where there is none or where it is the same as before and nobody asked. `hold` is what the
    change guard would say of changes that it would hold, and `confirmation` the hash that lets them through.
    """

    key: ObjectKey
    domain_name: str
    effect: Effect
    changes: tuple[FieldChange, ...]
    verdict: Verdict | None
    record_sets: tuple[RecordPlan, ...]
    untouched: int
    hold: Verdict | None = None
    confirmation: str | None = None
    withdrawals: tuple[WithdrawalPlan, ...] = ()


@dataclass(frozen=True, slots=True)
class Assumption:
    """A ZoneClass that is taken to be accepted; `asked` is the webhook that its controller has to ask first, empty without one."""

    zone_class: ObjectKey
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The zones that the change is about, and what is taken for granted. Webhooks are not asked: they may be out of reach."""

    zones: tuple[ZonePlan, ...]
    assumed: tuple[Assumption, ...]


def make_plan(
    before: World,
    after: World,
    named: Iterable[ObjectKey] = (),
    named_zones: Iterable[ObjectKey] = (),
    named_withdrawals: Iterable[ObjectKey] = (),
) -> Plan:
    """Return what becomes of the zones when `before` turns into `after`.

    `named` are RecordSets, and the others Zones and RecordWithdrawals, that are told about even if nothing happens to them: what is
    refused among them is refused again.
    """
    assumed = [key for key, each in after.zone_classes.items() if _is_undecided(each, before.zone_classes.get(key))]
    accepted = {key: _accepted(after.zone_classes[key]) for key in assumed}
    old, new = _View(before), _View(replace(after, zone_classes={**after.zone_classes, **accepted}))
    told = _Told(frozenset(named), frozenset(named_withdrawals))
    wanted = {
        *named_zones,
        *(zone_key_of(after.record_sets[key]) for key in told.record_sets),
        *(zone_of_withdrawal(after.withdrawals[key]) for key in told.withdrawals),
    }
    plans = (
        _plan_zone(old.inputs(key), new.inputs(key), told, key in wanted)
        for key in sorted(old.keys | new.keys)
        if key in wanted or old.ground(key) != new.ground(key)
    )
    zones = tuple(each for each in plans if each.key in wanted or _says_something(each))
    return Plan(zones, tuple(new.assumption(key) for key in sorted(assumed)))


def field_changes(before: Any, after: Any, path: str = "") -> Iterator[FieldChange]:
    """Yield the leaves in which two JSON values differ; an object without fields is like one that is not there."""
    mine, theirs = ({} if each is None else each for each in (before, after))
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        for name in dict.fromkeys((*mine, *theirs)):
            yield from field_changes(mine.get(name), theirs.get(name), f"{path}.{name}" if path else name)
    elif before != after:
        yield FieldChange(path, before, after)


class _View:
    """A world by zone, with its Provider versions compiled."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._contracts = Contracts()
        self._claims: dict[ObjectKey, list[RecordSet]] = defaultdict(list)
        self._units: dict[ObjectKey, list[ZoneUnit]] = defaultdict(list)
        self._withdrawals: dict[ObjectKey, list[RecordWithdrawal]] = defaultdict(list)
        self._waivers: dict[str, list[RecordWithdrawalWaiver]] = defaultdict(list)
        for claim in world.record_sets.values():
            self._claims[zone_key_of(claim)].append(claim)
        for unit in sorted(world.zone_units.values(), key=lambda each: each.spec.part):
            self._units[unit.spec.zone.ref.key].append(unit)
        for withdrawal in world.withdrawals.values():
            self._withdrawals[zone_of_withdrawal(withdrawal)].append(withdrawal)
        for waiver in world.waivers.values():
            self._waivers[waiver.meta.namespace].append(waiver)
        self.keys = {*world.zones, *self._claims, *self._units, *self._withdrawals}

    def ground(self, key: ObjectKey) -> tuple[object, ...]:
        """Return all that the composition of a zone rests on."""
        inputs = self.inputs(key)
        return (
            inputs.zone,
            inputs.zone_class,
            inputs.provider,
            inputs.record_sets,
            inputs.units,
            inputs.namespace_labels,
            inputs.leaving,
            inputs.withdrawals,
            inputs.waivers,
        )

    def assumption(self, key: ObjectKey) -> Assumption:
        """Return what has to come true before a class is accepted."""
        spec = self._world.zone_classes[key].spec
        provider = self._world.providers.get(ObjectKey("", spec.provider.name))
        served = self._contracts.resolve(provider, spec.provider)
        storage = self._contracts.storage(provider, spec.provider.name)
        if isinstance(served, Contract) and isinstance(storage, Contract):
            plan = plan_conversion(Target.ZONE_CLASS, {"parameters": spec.parameters}, served, storage)
            if isinstance(plan, ConversionWebhook):
                return Assumption(key, asked_of(plan, ["parameters"], served.version.name, storage.version.name))
        return Assumption(key)

    def inputs(self, key: ObjectKey) -> ZoneInputs:
        world = self._world
        zone = world.zones.get(key)
        provider = world.providers.get(ObjectKey("", zone.spec.provider.name)) if zone else None
        claims, units = self._claims.get(key, []), self._units.get(key, [])
        withdrawals = self._withdrawals.get(key, [])
        claimants = {claim.meta.namespace for claim in withdrawals}
        namespaces = {key.namespace, *claimants, *(claim.meta.namespace for claim in claims)}
        metas = {name: world.namespaces.get(ObjectKey("", name)) for name in namespaces}
        return ZoneInputs(
            key=key,
            zone=zone,
            zone_class=world.zone_classes.get(class_key_of(zone)) if zone else None,
            provider=provider,
            record_sets=tuple(claims),
            units=tuple(units),
            versions=resolve(self._contracts, provider, zone, units),
            namespace_labels={name: meta.labels for name, meta in metas.items() if meta is not None},
            leaving=frozenset(name for name, meta in metas.items() if meta is not None and meta.deleting),
            withdrawals=tuple(withdrawals),
            waivers={name: tuple(self._waivers.get(name, ())) for name in claimants},
            withdrawal_versions=versions_named_by(self._contracts, provider, withdrawals),
        )


def _is_undecided(zone_class: ZoneClass, before: ZoneClass | None) -> bool:
    return before is None or before.spec != zone_class.spec


def _accepted(zone_class: ZoneClass) -> ZoneClass:
    condition = Condition(
        type=ConditionType.ACCEPTED,
        status=ConditionStatus.TRUE,
        observed_generation=zone_class.meta.generation,
        reason=Reason.ACCEPTED,
    )
    return replace(zone_class, status=ZoneClassStatus(conditions=(condition,)))


def _says_something(plan: ZonePlan) -> bool:
    told = plan.effect is not Effect.NONE or bool(plan.record_sets or plan.withdrawals) or plan.hold is not None
    return told or (plan.verdict or ACCEPTED) is not ACCEPTED


def _plan_zone(before: ZoneInputs, after: ZoneInputs, told: _Told, wanted: bool) -> ZonePlan:
    old, new = compose(before), compose(after)
    changes = (*_claim_changes(before.zone, after.zone), *_version_changes(old, new))
    effect = Effect.CHANGE if changes else Effect.NONE
    if before.zone is None and after.zone is not None:
        effect = Effect.CREATE
    elif new.delete_units and not old.delete_units:
        effect = Effect.DELETE
    record_sets = list(_plan_record_sets(before, after, old, new))
    shown = tuple(each for each in record_sets if _is_news(each, old.record_verdicts.get(each.key), told.record_sets))
    domain_name = after.zone.spec.domain_name if after.zone else _domain_of(after)
    sides = [Side.of(inputs, each.inventory, _items(each).values()) for inputs, each in ((before, old), (after, new))]
    withdrawals = plan_withdrawals(sides[0], sides[1], told.withdrawals)
    untouched = len(record_sets) - len(shown) + len(after.withdrawals) - len(withdrawals)
    verdict = new.zone_verdict if wanted or new.zone_verdict != old.zone_verdict else None
    step = new.step if new.held and (wanted or new.step != old.step) else None
    return ZonePlan(
        after.key,
        domain_name,
        effect,
        changes,
        verdict,
        shown,
        untouched,
        hold=step.hold if step is not None else None,
        confirmation=confirmation_of(step.changes) if step is not None else None,
        withdrawals=withdrawals,
    )


def _domain_of(inputs: ZoneInputs) -> str:
    return inputs.units[0].spec.zone.domain_name if inputs.units else ""


def _version_changes(old: Composition, new: Composition) -> Iterator[FieldChange]:
    """The ledger may be written in another version than before."""
    if old.parts and new.parts:
        yield from field_changes(old.parts[0].provider.dump(), new.parts[0].provider.dump(), "ledger.provider")


def _plan_record_sets(
    before: ZoneInputs, after: ZoneInputs, old: Composition, new: Composition
) -> Iterator[RecordPlan]:
    old_items, new_items = _items(old), _items(new)
    old_claims = {claim.key: claim for claim in before.record_sets}
    new_claims = {claim.key: claim for claim in after.record_sets}
    for key in sorted(old_items.keys() | new_items.keys() | new_claims.keys()):
        item, claim = new_items.get(key), new_claims.get(key)
        effect, changes = _compare(old_items.get(key), item)
        if effect is Effect.NONE and claim is not None and key in old_claims:
            changes = tuple(_metadata_changes(old_claims[key].meta, claim.meta))
            effect = Effect.CHANGE if changes else Effect.NONE
        known = item or old_items.get(key)
        kind, owner = (known.type, known.name) if known else (new_claims[key].spec.type, new_claims[key].spec.name)
        yield RecordPlan(key, str(kind), owner, effect, changes, new.record_verdicts.get(key))


def _is_news(record_set: RecordPlan, verdict_before: Verdict | None, told: frozenset[ObjectKey]) -> bool:
    if record_set.effect is not Effect.NONE:
        return True
    verdict = record_set.verdict
    if verdict is None or verdict.accepted:
        return False
    return record_set.key in told or verdict != verdict_before


def _items(composition: Composition) -> dict[ObjectKey, UnitRecordSet]:
    """What the ledger holds once the composition is written."""
    if composition.delete_units:
        return {}
    if composition.parts is None:
        return dict(composition.ledger.items)
    return {item.key: item for part in composition.parts.values() for item in part.record_sets}


_IDENTITY: Final = frozenset({"recordSetNamespace", "recordSetName", "observedGeneration", "name", "type"})
_DEFAULTS: Final = {"allowed": True, "deletionRequested": False}


def _compare(old: UnitRecordSet | None, new: UnitRecordSet | None) -> tuple[Effect, tuple[FieldChange, ...]]:
    if old is new:
        return Effect.NONE, ()
    before, after = _shown(old), _shown(new)
    if new is None or (new.deletion_requested and (old is None or not old.deletion_requested)):
        return Effect.DELETE, tuple(field_changes(_without_defaults(before), {}))
    if old is None:
        return Effect.CREATE, tuple(field_changes({}, _without_defaults(after)))
    changes = tuple(field_changes(before, after))
    return (Effect.CHANGE if changes else Effect.NONE), changes


def _shown(item: UnitRecordSet | None) -> dict[str, Any]:
    return {name: value for name, value in item.dump().items() if name not in _IDENTITY} if item is not None else {}


def _without_defaults(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in _DEFAULTS or value != _DEFAULTS[name]}


def _claim_changes(old: Zone | None, new: Zone | None) -> Iterator[FieldChange]:
    if old is new or new is None:
        return
    yield from field_changes(old.spec.dump() if old else {}, new.spec.dump())
    yield from _metadata_changes(old.meta if old else None, new.meta)


def _metadata_changes(old: ObjectMeta | None, new: ObjectMeta) -> Iterator[FieldChange]:
    for name in ("labels", "annotations"):
        before = getattr(old, name) if old is not None else {}
        for change in field_changes(before, getattr(new, name)):
            yield replace(change, field=f"metadata.{name}[{change.field}]")
