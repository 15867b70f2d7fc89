"""What an object's conditions say: whether a goal is reached, and what is missing when it is not.

Pure: manifests in, verdicts and words out. A condition counts for the generation it was decided for only (Kubernetes API conventions,
`observedGeneration`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Manifest = Mapping[str, Any]

GOOD_WHEN_TRUE: Final = frozenset({"Accepted", "Programmed", "Ready", "Available", "Established", "NamesAccepted"})
"""Conditions that an object waits for while they are not True; for others nobody can tell which status is the good one."""
JUDGED: Final = frozenset({"Zone", "ZoneClass", "RecordSet", "ZoneUnit", "RecordWithdrawal", "RecordWithdrawalWaiver"})
"""Kinds of our own that a controller judges."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an object stands to a goal; `missing` says what is wanting until it is reached."""

    reached: bool
    missing: str = ""
    hopeless: bool = False


@dataclass(frozen=True, slots=True)
class ConditionGoal:
    """A condition has a status, decided for the object as it is now."""

    type: str
    status: str = "True"

    @property
    def done(self) -> str:
        """What is said of an object that has reached the goal."""
        return self.type if self.status == "True" else f"{self.type}={self.status}"

    def judge(self, obj: Manifest | None) -> Verdict:
        """Judge an object, None when it is gone."""
        if obj is None:
            return Verdict(False, "it does not exist", hopeless=True)
        condition = find(obj, self.type)
        if condition is None:
            return Verdict(False, absent(obj, self.type))
        same = str(condition.get("status")).lower() == self.status.lower()
        reached = same and is_current(obj, condition)
        return Verdict(reached, "" if reached else told(obj, condition))


@dataclass(frozen=True, slots=True)
class GoneGoal:
    """The object is gone, or another one has its name."""

    done: Final = "deleted"

    def judge(self, obj: Manifest | None) -> Verdict:
        """Judge an object, None when it is gone."""
        if obj is None:
            return Verdict(True)
        if not obj["metadata"].get("deletionTimestamp"):
            return Verdict(False, "nobody has deleted it yet")
        return Verdict(
            False, "; ".join(each.removesuffix(".") for each in held_by(obj)) or "the API is about to remove it"
        )


Goal = ConditionGoal | GoneGoal


def conditions(obj: Manifest) -> list[dict[str, Any]]:
    """Return the conditions in `status`, none when it has none."""
    status = obj.get("status")
    found = status.get("conditions") if isinstance(status, dict) else None
    return [each for each in found if isinstance(each, dict) and "type" in each] if isinstance(found, list) else []


def find(obj: Manifest, kind: str) -> dict[str, Any] | None:
    """Return the condition of a type, whatever the case of its letters."""
    return next((each for each in conditions(obj) if str(each["type"]).lower() == kind.lower()), None)


def is_current(obj: Manifest, condition: Mapping[str, Any]) -> bool:
    """Whether the condition was decided for the generation that the object has now."""
    observed = observed_generation(obj, condition)
    return observed is None or observed >= obj["metadata"].get("generation", 0)


def observed_generation(obj: Manifest, condition: Mapping[str, Any]) -> int | None:
    """Return the generation that a condition speaks of, None where its kind does not tell."""
    stated = condition.get("observedGeneration", (obj.get("status") or {}).get("observedGeneration"))
    return stated if isinstance(stated, int) else None


def told(obj: Manifest, condition: Mapping[str, Any]) -> str:
    """Return a condition in words: `Programmed is False (ProviderConflict): message`."""
    reason = f" ({condition['reason']})" if condition.get("reason") else ""
    message = f": {condition['message']}" if condition.get("message") else ""
    text = f"{condition['type']} is {condition.get('status')}{reason}{message}"
    if is_current(obj, condition):
        return text
    now, then = obj["metadata"].get("generation"), observed_generation(obj, condition)
    return f"generation {now} is not judged yet; of generation {then}: {text}"


def absent(obj: Manifest, kind: str) -> str:
    """Say that a condition is not there, and why that may be."""
    if others := waits_for(obj) if conditions(obj) else []:
        return f"it has no condition {kind} yet; {'; '.join(others)}"
    if present := ", ".join(str(each["type"]) for each in conditions(obj)):
        return f"it has no condition {kind}, it has: {present}"
    own = obj.get("kind") in JUDGED
    return f"no controller has set its condition {kind} yet" + ("; does the manager run?" if own else "")


def held_by(obj: Manifest) -> Iterator[str]:
    """Yield what keeps a deleted object from going: the conditions that tell about it, then the finalizers."""
    for each in conditions(obj):
        positive = each["type"] in GOOD_WHEN_TRUE
        if each.get("message") and (each.get("status") == "True") is not positive:
            yield told(obj, each)
    finalizers = [*(obj["metadata"].get("finalizers") or ()), *((obj.get("spec") or {}).get("finalizers") or ())]
    if finalizers:
        yield f"held by finalizer{'s' if len(finalizers) > 1 else ''} {', '.join(map(str, finalizers))}"


def waits_for(obj: Manifest) -> list[str]:
    """Return what an object waits for, nothing when it is as it should be."""
    if not conditions(obj) and obj.get("kind") in JUDGED:
        return ["no controller has judged it yet; does the manager run?"]
    if obj["metadata"].get("deletionTimestamp"):
        return [f"it is being deleted: {GoneGoal().judge(obj).missing}"]
    return [
        told(obj, each)
        for each in conditions(obj)
        if each["type"] in GOOD_WHEN_TRUE and (each.get("status") != "True" or not is_current(obj, each))
    ]
