"""Composition of one zone: claims and today's ledger in, verdicts and tomorrow's ledger out.

Pure. An item leaves the ledger only when deletion was asked for and the provider has reported it done; whatever is in doubt stays
as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from controllers.api.group import CONFIRM_CHANGE
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.reference import FullRef, ProviderRef
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone import Zone
from controllers.api.zone_unit import UnitRecordSet, UnitZone, ZoneUnitSpec
from controllers.core.conversion import settle
from controllers.core.fence import fence_at
from controllers.core.guard import COLLECTED, HELD, Step, find_changes, judge_step
from controllers.core.inputs import ZoneInputs, class_key_of, contracts_of
from controllers.core.item import is_item_of
from controllers.core.ledger import Ledger
from controllers.core.memory import ZoneMemory
from controllers.core.migration import migrate
from controllers.core.owner import Register, by_age, register_ledger
from controllers.core.placement import place
from controllers.core.providercontract.conversion.outcome import Converted
from controllers.core.record_rule import judge_zone_ref, verdict_under
from controllers.core.shortfall import Shortfall
from controllers.core.withdrawal.inventory import NOTHING, Inventory, take_inventory, with_withdrawals
from controllers.core.zone_rule import judge_ledger, judge_surroundings, kept_by, lingers
from kube.object import ObjectKey


@dataclass(frozen=True, slots=True)
class Composition:
    """What has to become true; `ledger` is today's, which it was decided on.

    `zone_verdict` is None when nothing is to be said of the Zone. `parts` are the specs of the ledger's parts by number, or None
    when the ledger is left as it is. `hold_zone` and `hold` name the claims that keep their finalizer. `step` are the changes that
    the change guard is concerned with, and `held` the claims whose change it keeps out of the ledger.
    `inventory` is about the zone's withdrawals. `fenced` are the claims whose result in the ledger is that of another item.
    """

    ledger: Ledger
    zone_verdict: Verdict | None
    record_verdicts: Mapping[ObjectKey, Verdict]
    parts: Mapping[int, ZoneUnitSpec] | None = None
    delete_units: bool = False
    hold_zone: bool = False
    hold: frozenset[ObjectKey] = frozenset()
    step: Step | None = None
    held: frozenset[ObjectKey] = frozenset()
    inventory: Inventory = NOTHING
    fenced: frozenset[ObjectKey] = frozenset()


Claims = Mapping[ObjectKey, RecordSet]
Items = dict[ObjectKey, UnitRecordSet]
Verdicts = dict[ObjectKey, Verdict]


def compose(inputs: ZoneInputs, memory: ZoneMemory | None = None) -> Composition:
    """Decide everything about one zone; a memory of earlier decisions saves work and changes nothing."""
    memory = memory or ZoneMemory()
    memory.look_at_fences(inputs.record_sets, inputs.units)
    composition = _with_withdrawals(_compose_records(inputs, memory), inputs)
    verdicts = {**composition.record_verdicts, **_lingering(inputs, composition.ledger)}
    return replace(composition, fenced=frozenset(memory.fences), record_verdicts=verdicts)


def _lingering(inputs: ZoneInputs, ledger: Ledger) -> Verdicts:
    """Return what is told of claims that nothing stands for any more and that were let go, while finalizers of others keep them."""
    return {
        claim.key: waiting(Reason.RECONCILING, f"Nothing of it is left in the zone; {kept_by(claim.meta)}.")
        for claim in inputs.record_sets
        if claim.key not in ledger.items and lingers(claim.meta)
    }


def _with_withdrawals(composition: Composition, inputs: ZoneInputs) -> Composition:
    """Enter the zone's withdrawals into part 0; for as long as there are any, the Zone and its ledger stay."""
    if inputs.withdrawals:
        composition = replace(composition, delete_units=False, hold_zone=True)
    specs = {unit.spec.part: unit.spec for unit in inputs.units} if composition.parts is None else composition.parts
    inventory = take_inventory(inputs, None if composition.delete_units else specs.get(0))
    if inventory.items is None:
        return replace(composition, inventory=inventory)
    wanted = with_withdrawals(specs[0], inventory.items)
    parts = composition.parts if wanted is specs[0] else {**specs, 0: wanted}
    return replace(composition, inventory=inventory, parts=parts)


def _compose_records(inputs: ZoneInputs, memory: ZoneMemory) -> Composition:
    ledger = Ledger.of(inputs.units)
    claims = {claim.key: claim for claim in inputs.record_sets}
    zone = inputs.zone
    if zone is None:
        return _kept(inputs, ledger, claims, None, {key: _without_zone(claim, inputs) for key, claim in claims.items()})
    if zone.meta.deleting:
        return _under_deletion(zone, inputs, ledger, claims)
    if any(unit.meta.deleting for unit in inputs.units):
        leaving = waiting(Reason.RECONCILING, f"Waiting until the former ZoneUnit {inputs.key} is gone.")
        return _kept(inputs, ledger, claims, leaving, dict.fromkeys(claims, leaving))
    payloads = _judge_zone(zone, inputs, memory)
    if isinstance(payloads, Verdict):
        return _refused(inputs, ledger, claims, payloads, memory)
    migrated = migrate(ledger, zone, inputs)
    if isinstance(migrated, Verdict):
        return _refused(inputs, ledger, claims, migrated, memory)
    return _Composing(zone, payloads, inputs, ledger, migrated, claims, memory).composition()


def without_unheld(composition: Composition, unheld: Mapping[ObjectKey, str]) -> Composition:
    """Return a composition that leaves claims aside which could not be held: the ledger has of them what it has today. Those of which the
    API said why are told.
    """
    if not unheld:
        return composition
    told = {
        key: waiting(Reason.RECONCILE_ERROR, f"The finalizer that holds it cannot be put on: {message}")
        for key, message in unheld.items()
        if message
    }
    composition = replace(composition, record_verdicts={**composition.record_verdicts, **told})
    if composition.parts is None:
        return composition
    before = composition.ledger.items
    parts: dict[int, ZoneUnitSpec] = {}
    for part, spec in composition.parts.items():
        found = (before.get(item.key) if item.key in unheld else item for item in spec.record_sets)
        items = tuple(item for item in found if item is not None)
        if items or part == 0 or part in composition.ledger.part_of.values():
            parts[part] = spec.model_copy(update={"record_sets": items})
    return replace(composition, parts=parts)


def fallen_short(composition: Composition, shortfalls: Mapping[int, Shortfall]) -> Composition:
    """Return a composition of which the API did not take all: whoever wanted something new that does not stand there is told so."""
    verdicts, zone_verdict = dict(composition.record_verdicts), composition.zone_verdict
    for part, shortfall in shortfalls.items():
        spec = (composition.parts or {})[part]
        for key in shortfall.lacking(spec.record_sets):
            if key in verdicts:
                verdicts[key] = waiting(Reason.RECONCILE_ERROR, shortfall.told_to(key))
        if part == 0 and (shortfall.stands is None or shortfall.stands.zone != spec.zone):
            zone_verdict = waiting(Reason.RECONCILE_ERROR, shortfall.message)
    return replace(composition, record_verdicts=verdicts, zone_verdict=zone_verdict)


def _judge_zone(zone: Zone, inputs: ZoneInputs, memory: ZoneMemory) -> Verdict | Converted:
    verdict = judge_surroundings(zone, inputs)
    if not verdict.accepted:
        return verdict
    return settle(memory.rule_zone(zone, inputs), inputs.answers, contracts_of(inputs)[1])


def _refused(inputs: ZoneInputs, ledger: Ledger, claims: Claims, verdict: Verdict, memory: ZoneMemory) -> Composition:
    return _kept(inputs, ledger, claims, verdict, dict.fromkeys(claims, verdict_under(verdict)), memory)


def _without_zone(claim: RecordSet, inputs: ZoneInputs) -> Verdict:
    verdict = judge_zone_ref(claim)
    return waiting(Reason.ZONE_NOT_RESOLVED, f"Zone {inputs.key} does not exist yet.") if verdict.accepted else verdict


def _under_deletion(zone: Zone, inputs: ZoneInputs, ledger: Ledger, claims: Claims) -> Composition:
    """Wait for the claims that own records; then clean up.

    A claim that owns nothing holds nobody up, and items whose claims were lost go the way that the provider's deletion policy says.
    Nothing is edited any more. A ledger that was never this Zone's, since it is of another domain, provider or class, does not go with it.
    """
    late = refused(Reason.ZONE_NOT_ACCEPTED, f"Zone {inputs.key} is being deleted.")
    if not judge_ledger(zone, inputs).accepted:
        return replace(_kept(inputs, ledger, claims, None, dict.fromkeys(claims, late)), hold_zone=False)
    if ledger.items.keys() & claims.keys():
        own = {key for key, claim in claims.items() if key in ledger.items and _is_composed(claim, ledger.items[key])}
        return _kept(inputs, ledger, claims, None, {key: ACCEPTED if key in own else late for key in claims})
    stays = inputs.units or lingers(zone.meta)
    told = {key: late for key, claim in claims.items() if stays and not claim.meta.deleting}
    return Composition(ledger, None, told, delete_units=True, hold_zone=bool(inputs.units))


def _kept(
    inputs: ZoneInputs,
    ledger: Ledger,
    claims: Claims,
    zone_verdict: Verdict | None,
    verdicts: Mapping[ObjectKey, Verdict],
    memory: ZoneMemory | None = None,
) -> Composition:
    """Leave the ledger as it is, but for the deletions that claims ask for: those go on whatever else is missing.

    The memory is that of a zone whose changes may be guarded.
    """
    items: Items = {}
    for key, item in ledger.items.items():
        if not ledger.is_gone(key):
            deleting = key in claims and claims[key].meta.deleting
            items[key] = _with_deletion_requested(item) if deleting else item
    step = _step(inputs, ledger, items, claims, memory) if memory is not None else None
    if held := _held_by(step, inputs):
        items.update((key, ledger.items[key]) for key in held)
        verdicts = {**verdicts, **held}
    parts = None
    if items != ledger.items:
        parts = {unit.spec.part: _with_items(unit.spec, items) for unit in inputs.units}
    hold = frozenset(items) & claims.keys()
    return Composition(
        ledger,
        zone_verdict,
        verdicts,
        parts,
        hold_zone=bool(inputs.units),
        hold=hold,
        step=step,
        held=frozenset(held),
    )


def _step(inputs: ZoneInputs, ledger: Ledger, tomorrow: Items, claims: Claims, memory: ZoneMemory) -> Step | None:
    """Return what the change guard of the class has to do with, None without one.

    A confirmation holds until the last of its changes is written: the parts of a ledger are written one by one.
    """
    zone = inputs.zone
    guard = inputs.zone_class.spec.change_guard if inputs.zone_class is not None else None
    if guard is None or zone is None or zone.meta.namespace in inputs.leaving:
        memory.confirmed = frozenset()
        return None
    changes = find_changes(ledger, tomorrow, claims, inputs.leaving)
    memory.confirmed &= changes
    pending = changes - memory.confirmed
    step = judge_step(guard, ledger, pending)
    if step is not None and step.confirmation_is(zone.meta.annotations.get(CONFIRM_CHANGE)):
        memory.confirmed = changes
        return None
    return step


def _held_by(step: Step | None, inputs: ZoneInputs) -> Verdicts:
    """Return the claims whose change has to wait, and what they are told."""
    if step is None or not (step.hold or inputs.collecting):
        return {}
    return {each.key: HELD if step.hold else COLLECTED for each in step.changes}


@dataclass(frozen=True, slots=True)
class _Composing:
    """The composition of a zone that is accepted; `ledger` is today's, `migrated` the same in the storage version."""

    zone: Zone
    payloads: Converted
    inputs: ZoneInputs
    ledger: Ledger
    migrated: Ledger
    claims: Claims
    memory: ZoneMemory
    items: Items = field(default_factory=dict)
    verdicts: Verdicts = field(default_factory=dict)

    def composition(self) -> Composition:
        """Return tomorrow's ledger and everybody's verdict."""
        changed = self._carry_over()
        newcomers = [claim for key, claim in self.claims.items() if key not in self.items and not claim.meta.deleting]
        if newcomers or (changed and self.memory.has_pair_rules):
            register = self._register()
            self._renew(changed, register)
            step, held = self._guard()
            # Newcomers have to go with what stands there, which what is held does not change.
            self._admit(newcomers, self._register() if held else register)
        else:
            self.items.update((claim.key, item) for claim, item in changed)
            step, held = self._guard()
        self._fence(item for _, item in changed)
        hold = frozenset(self.items) & self.claims.keys()
        return Composition(
            self.ledger,
            ACCEPTED,
            self.verdicts,
            self._parts(),
            hold_zone=True,
            hold=hold,
            step=step,
            held=frozenset(held),
        )

    def _fence(self, changed: Iterable[UnitRecordSet]) -> None:
        """Keep the results of former items from those that take their place with the same generation."""
        for item in changed:
            key, former = item.key, self.ledger.items[item.key]
            if self.items[key] is item and former.observed_generation == item.observed_generation:
                self.memory.fences[key] = fence_at(self.ledger.part_of[key], self.inputs.units)

    def _register(self) -> Register:
        return register_ledger(self.items.values(), self.claims, self.memory.pair_judge())

    def _guard(self) -> tuple[Step | None, Verdicts]:
        """Put back what the change guard keeps out; returns the step, and who is held."""
        step = _step(self.inputs, self.migrated, self.items, self.claims, self.memory)
        held = _held_by(step, self.inputs)
        if held:
            self.items.update((key, self.migrated.items[key]) for key in held)
            self.verdicts.update(held)
        return step, held

    def _carry_over(self) -> list[tuple[RecordSet, UnitRecordSet]]:
        """Enter what stands in the ledger today; returns the owners that want to change, and to what."""
        changed = []
        for key, item in self.migrated.items.items():
            if self.ledger.is_gone(key):
                continue
            claim = self.claims.get(key)
            self.items[key] = item
            if claim is None:
                continue
            if claim.meta.deleting:
                self.items[key] = _with_deletion_requested(item)
                self.verdicts[key] = ACCEPTED
            elif claim.spec.type != item.type or claim.spec.name != item.name:
                self.items[key] = _with_deletion_requested(item)
                message = f"Waiting until the former {item.type} at {item.name} is deleted."
                self.verdicts[key] = waiting(Reason.RECONCILING, message)
            elif (new := self._judge_owner(claim, item)) is not item:
                changed.append((claim, new))
        return changed

    def _judge_owner(self, claim: RecordSet, item: UnitRecordSet) -> UnitRecordSet:
        """Return the item that an owner wants to have. One that is refused keeps its records as they are; one that a policy shuts
        out is marked so that nobody touches them."""
        judged = self.memory.judge(claim, self.zone, self.inputs)
        if isinstance(judged, UnitRecordSet):
            self.verdicts[claim.key] = ACCEPTED
            return self.memory.renewed(item, judged)
        self.verdicts[claim.key] = judged
        if judged.reason is Reason.NOT_ALLOWED_BY_ZONE and item.allowed:
            self.items[claim.key] = item.model_copy(update={"allowed": False})
        return item

    def _renew(self, changed: list[tuple[RecordSet, UnitRecordSet]], register: Register) -> None:
        """Give owners the form that they want, as far as it goes with what stands beside them."""
        wanted = {claim.key: item for claim, item in changed}
        if self.memory.has_pair_rules:
            objections = register.renew(wanted[claim.key] for claim in by_age(claim for claim, _ in changed))
            self.verdicts.update(objections)
            wanted = {key: item for key, item in wanted.items() if key not in objections}
        self.items.update(wanted)

    def _admit(self, newcomers: list[RecordSet], register: Register) -> None:
        """Let newcomers in as far as they go with what stands there, the oldest first."""
        for claim in by_age(newcomers):
            judged = self.memory.judge(claim, self.zone, self.inputs)
            if isinstance(judged, UnitRecordSet):
                self.verdicts[claim.key] = verdict = register.admit(judged)
                if verdict.accepted:
                    self.items[claim.key] = judged
            else:
                self.verdicts[claim.key] = judged

    def _parts(self) -> dict[int, ZoneUnitSpec]:
        placed = place(self.items.values(), self.ledger.part_of)
        # A part is listed once it exists: a part that is listed and not there has been lost.
        existing = {unit.spec.part for unit in self.inputs.units}
        further = tuple(part for part in placed if part and part in existing)
        provider = ProviderRef(name=self.zone.spec.provider.name, version=contracts_of(self.inputs)[1].version.name)
        zone = self._unit_zone()
        return {
            part: ZoneUnitSpec(
                provider=provider, zone=zone, part=part, parts=() if part else further, record_sets=tuple(items)
            )
            for part, items in placed.items()
        }

    def _unit_zone(self) -> UnitZone:
        meta, zone_class = self.zone.meta, class_key_of(self.zone)
        return UnitZone(
            ref=FullRef(namespace=meta.namespace, name=meta.name),
            observed_generation=meta.generation,
            domain_name=self.zone.spec.domain_name,
            zone_class_ref=FullRef(namespace=zone_class.namespace, name=zone_class.name),
            adoption=self.payloads.payloads.get("adoption"),
        )


def _is_composed(claim: RecordSet, item: UnitRecordSet) -> bool:
    """Say whether an item is that of a claim as it is, or of one that goes, which has a generation that its item never gets."""
    return claim.meta.deleting or is_item_of(claim, item)


def _with_deletion_requested(item: UnitRecordSet) -> UnitRecordSet:
    return item if item.deletion_requested else item.model_copy(update={"deletion_requested": True})


def _with_items(spec: ZoneUnitSpec, items: Items) -> ZoneUnitSpec:
    """Return a part with these items in place of its own, without those that are not among them."""
    kept = tuple(items[item.key] for item in spec.record_sets if item.key in items)
    return spec.model_copy(update={"record_sets": kept})
