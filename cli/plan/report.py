"""How a plan is told: as lines for people, as one JSON document for programs, and as an exit code.

Owns words, marks and counts. Decides nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cli.objects.document import Fault
from cli.plan.rehearsal import Left, Taken
from cli.plan.withdrawal import MARKS, REFUSED_MARK, effect_of, key_document, withdrawal_document, withdrawal_lines
from controllers.api.condition import ConditionStatus
from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.api.verdict import Verdict
from controllers.core.plan import Effect, FieldChange, Plan, RecordPlan, ZonePlan
from kube.object import ObjectKey

NO_CHANGE, REFUSED, CHANGED = 0, 1, 2
WAITING_MARK: Final = "?"
TOGETHER_FROM: Final = 4
"""So many record sets that are refused or wait for the same reason are told in one line."""

_PLAIN: Final = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A manifest that is refused before it is composed; `zone` is the Zone that it is about, where that can be told."""

    fault: Fault
    zone: ObjectKey | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that there is to tell."""

    plan: Plan
    taken: Sequence[Taken]
    left: Sequence[Left]
    refusals: Sequence[Refusal]

    @property
    def counts(self) -> Counter[str]:
        """Counts by `create`, `change`, `delete`, `refused`, `waiting` and `untouched`.

        Zones count when something happens to themselves.
        """
        found = Counter({"refused": len(self.refusals)})
        for zone in self.plan.zones:
            told: list[ZonePlan | RecordPlan] = [zone, *zone.record_sets]
            found.update(_standing(each.verdict) or each.effect.value for each in told)
            found.update(
                "refused" if not each.acceptance.accepted else effect_of(each).value for each in zone.withdrawals
            )
        found.pop(Effect.NONE.value, None)
        found.update(_effect(each).value for each in self._others())
        found["untouched"] = found.pop(Effect.NONE.value, 0) + sum(zone.untouched for zone in self.plan.zones)
        return found

    @property
    def exit_code(self) -> int:
        """0 when nothing changes, 2 when something does, 1 when anything is refused."""
        counts = self.counts
        if counts["refused"]:
            return REFUSED
        changing = any(each.created or each.changes for each in self.taken)
        return CHANGED if changing or any(counts[each] for each in Effect if each is not Effect.NONE) else NO_CHANGE

    def lines(self) -> Iterator[str]:
        """Yield the plan for people."""
        for other in self._others():
            yield f"{MARKS[_effect(other)]} {other.ref.kind} {other.key}"
            yield from _change_lines(other.changes, _effect(other), "    ")
        for zone in self.plan.zones:
            yield from _zone_lines(zone, [each.fault for each in self.refusals if each.zone == zone.key])
        known = {zone.key for zone in self.plan.zones}
        for refusal in self.refusals:
            if refusal.zone not in known:
                yield from _fault_lines(refusal.fault, "")
        for each in self.plan.assumed:
            first = f", which waits for {each.asked}" if each.asked else ""
            yield f"assumed: {ZONE_CLASSES.kind} {each.zone_class} is accepted by its controller{first}"
        for left in self.left:
            yield f"left out: {left.document.place}, {left.document.kind}: it has no part in zones"
        yield _summary(self.counts)

    def document(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        zones = {zone.key: _zone_document(zone) for zone in self.plan.zones}
        refused: list[dict[str, Any]] = []
        for refusal in self.refusals:
            fault = refusal.fault
            told = {"place": fault.place, "object": fault.subject, "faults": list(fault.messages)}
            owner = zones.get(refusal.zone) if refusal.zone is not None else None
            (owner["refused"] if owner is not None else refused).append(told)
        names = ("create", "change", "delete", "refused", "waiting", "untouched")
        return {
            "objects": [_object_document(each) for each in self._others()],
            "zones": list(zones.values()),
            "refused": refused,
            "assumedAccepted": [key_document(each.zone_class) for each in self.plan.assumed],
            "leftOut": [each.document.place for each in self.left],
            "summary": {name: self.counts[name] for name in names},
        }

    def _others(self) -> list[Taken]:
        """Objects beside Zones and their claims, which are told as what becomes of zones."""
        return [each for each in self.taken if each.ref not in (ZONES, RECORD_SETS, RECORD_WITHDRAWALS)]


def _effect(taken: Taken) -> Effect:
    return Effect.CREATE if taken.created else Effect.CHANGE if taken.changes else Effect.NONE


def _standing(verdict: Verdict | None) -> str:
    """`refused` or `waiting`, nothing for a claim that is accepted."""
    if verdict is None or verdict.accepted:
        return ""
    return "refused" if verdict.status is ConditionStatus.FALSE else "waiting"


def _zone_lines(zone: ZonePlan, refused: Sequence[Fault]) -> Iterator[str]:
    yield f"{_mark(zone)} Zone {zone.key} ({zone.domain_name or 'which does not exist'})"
    yield from _verdict_lines(zone.verdict, "    ")
    if zone.hold is not None:
        yield f"    held: {zone.hold.message}"
    yield from _change_lines(zone.changes, zone.effect, "    ")
    alike: dict[Verdict, list[RecordPlan]] = defaultdict(list)
    for each in sorted(zone.record_sets, key=lambda each: (each.owner, each.type, each.key)):
        if each.effect is Effect.NONE and each.verdict is not None:
            alike[each.verdict].append(each)
        else:
            yield from _record_lines(each)
    for verdict, group in alike.items():
        if len(group) < TOGETHER_FROM:
            for each in group:
                yield from _record_lines(each)
        else:
            yield f"  {_mark(group[0])} {len(group):,} record sets, {group[0].key} and others"
            yield from _verdict_lines(verdict, "      ")
    for withdrawal in zone.withdrawals:
        yield from withdrawal_lines(withdrawal)
    for fault in refused:
        yield from _fault_lines(fault, "  ")
    if zone.untouched:
        yield f"  {zone.untouched:,} untouched"


def _record_lines(record_set: RecordPlan) -> Iterator[str]:
    yield f"  {_mark(record_set)} {record_set.owner} {record_set.type}, RecordSet {record_set.key}"
    yield from _verdict_lines(record_set.verdict, "      ")
    yield from _change_lines(record_set.changes, record_set.effect, "      ")


def _mark(plan: ZonePlan | RecordPlan) -> str:
    standing = _standing(plan.verdict)
    return {"": MARKS[plan.effect], "refused": REFUSED_MARK, "waiting": WAITING_MARK}[standing]


def _verdict_lines(verdict: Verdict | None, indent: str) -> Iterator[str]:
    if verdict is not None and (standing := _standing(verdict)):
        yield f"{indent}{standing}: {verdict.reason}: {verdict.message}"


def _fault_lines(fault: Fault, indent: str) -> Iterator[str]:
    about = f", {fault.subject}" if fault.subject else ""
    yield f"{indent}{REFUSED_MARK} {fault.place}{about}"
    yield from (f"{indent}    refused: {message}" for message in fault.messages)


def _change_lines(changes: Sequence[FieldChange], effect: Effect, indent: str) -> Iterator[str]:
    """Yield one line for each field; fields of what is deleted are no news."""
    if effect is Effect.DELETE:
        return
    for change in changes:
        if effect is Effect.CREATE:
            yield f"{indent}{change.field}: {_text(change.after)}"
        elif isinstance(change.before, list) and isinstance(change.after, list):
            yield f"{indent}{change.field}: {_list_change(change.before, change.after)}"
        else:
            yield f"{indent}{change.field}: {_text(change.before)} -> {_text(change.after)}"


def _list_change(before: list[Any], after: list[Any]) -> str:
    gone = [f"-{_text(each)}" for each in before if each not in after]
    come = [f"+{_text(each)}" for each in after if each not in before]
    return " ".join(gone + come) or f"in another order: {_text(after)}"


def _text(value: Any) -> str:
    """Return a value on one line; whatever a terminal might take for something else is escaped."""
    if value is None:
        return "nothing"
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    if isinstance(value, list) and value:
        return ", ".join(_text(each) for each in value)
    return json.dumps(value)


def _summary(counts: Counter[str]) -> str:
    told = [f"{counts[name]:,} to {name}" for name in ("create", "change", "delete")]
    told += [f"{counts[name]:,} {name}" for name in ("refused", "waiting", "untouched") if counts[name]]
    return "Plan: " + ", ".join(told)


def _object_document(taken: Taken) -> dict[str, Any]:
    return {
        "kind": taken.ref.kind,
        **key_document(taken.key),
        "effect": _effect(taken).value,
        "changes": _changes_document(taken.changes),
    }


def _zone_document(zone: ZonePlan) -> dict[str, Any]:
    return {
        **key_document(zone.key),
        "domainName": zone.domain_name,
        "effect": zone.effect.value,
        "accepted": _verdict_document(zone.verdict),
        "held": _hold_document(zone),
        "changes": _changes_document(zone.changes),
        "recordSets": [_record_document(each) for each in zone.record_sets],
        "withdrawals": [withdrawal_document(each) for each in zone.withdrawals],
        "refused": [],
        "untouched": zone.untouched,
    }


def _hold_document(zone: ZonePlan) -> dict[str, str | None] | None:
    return {"message": zone.hold.message, "confirmation": zone.confirmation} if zone.hold is not None else None


def _record_document(record_set: RecordPlan) -> dict[str, Any]:
    return {
        **key_document(record_set.key),
        "type": record_set.type,
        "recordName": record_set.owner,
        "effect": record_set.effect.value,
        "accepted": _verdict_document(record_set.verdict),
        "changes": _changes_document(record_set.changes),
    }


def _verdict_document(verdict: Verdict | None) -> dict[str, str] | None:
    if verdict is None:
        return None
    return {"status": verdict.status.value, "reason": verdict.reason.value, "message": verdict.message}


def _changes_document(changes: Sequence[FieldChange]) -> list[dict[str, Any]]:
    return [{"field": each.field, "before": each.before, "after": each.after} for each in changes]
