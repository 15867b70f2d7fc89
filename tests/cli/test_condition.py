"""Verdicts on conditions: which ones count, and what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from cli.api.condition import ConditionGoal, GoneGoal, Verdict, waits_for


def condition(
    kind: str = "Programmed", status: str = "True", generation: int | None = 2, **more: Any
) -> dict[str, Any]:
    observed = {} if generation is None else {"observedGeneration": generation}
    return {"type": kind, "status": status, "reason": "Why", "message": "Because.", **observed, **more}


def zone(*conditions: dict[str, Any], observed: int | None = None, **metadata: Any) -> dict[str, Any]:
    status: dict[str, Any] = {"conditions": list(conditions)}
    if observed is not None:
        status["observedGeneration"] = observed
    return {"kind": "Zone", "metadata": {"name": "x", "generation": 2, **metadata}, "status": status}


PROGRAMMED = ConditionGoal("Programmed")


@pytest.mark.parametrize(
    "obj",
    [
        zone(condition()),
        zone(condition(generation=3)),
        zone(condition(generation=None)),
        zone(condition(generation=None), observed=2),
        zone(condition("programmed")),
    ],
)
def test_a_condition_of_this_generation_counts(obj: dict[str, Any]) -> None:
    assert PROGRAMMED.judge(obj) == Verdict(True)


@pytest.mark.parametrize("obj", [zone(condition(generation=1)), zone(condition(generation=None), observed=1)])
def test_a_condition_of_an_older_generation_does_not(obj: dict[str, Any]) -> None:
    verdict = PROGRAMMED.judge(obj)
    assert not verdict.reached
    assert verdict.missing == ("generation 2 is not judged yet; of generation 1: Programmed is True (Why): Because.")


@pytest.mark.parametrize(
    ("obj", "missing"),
    [
        (zone(condition(status="False")), "Programmed is False (Why): Because."),
        (zone(condition(status="Unknown", message="")), "Programmed is Unknown (Why)"),
        (zone(), "no controller has set its condition Programmed yet; does the manager run?"),
        ({"kind": "Pod", "metadata": {"name": "x"}}, "no controller has set its condition Programmed yet"),
        (
            zone(condition("Accepted", "False")),
            "it has no condition Programmed yet; Accepted is False (Why): Because.",
        ),
        (zone(condition("Accepted")), "it has no condition Programmed, it has: Accepted"),
    ],
)
def test_what_is_missing_is_told(obj: dict[str, Any], missing: str) -> None:
    assert PROGRAMMED.judge(obj) == Verdict(False, missing)


def test_what_is_not_there_never_gets_there() -> None:
    assert PROGRAMMED.judge(None) == Verdict(False, "it does not exist", hopeless=True)


def test_the_end_of_an_object() -> None:
    goal = GoneGoal()
    assert goal.judge(None) == Verdict(True)
    assert goal.judge(zone()).missing == "nobody has deleted it yet"
    deleted: dict[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    held = zone(condition(status="False"), condition("Accepted"), finalizers=["a/b", "c/d"], **deleted)
    assert goal.judge(held).missing == "Programmed is False (Why): Because; held by finalizers a/b, c/d"
    assert goal.judge(zone(**deleted)).missing == "the API is about to remove it"
    namespace = {
        "kind": "Namespace",
        "metadata": {"name": "x", **deleted},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {
            "conditions": [condition("NamespaceContentRemaining"), condition("NamespaceDeletionFailure", "False")]
        },
    }
    assert goal.judge(namespace).missing == (
        "NamespaceContentRemaining is True (Why): Because; held by finalizer kubernetes"
    )


def test_what_an_object_waits_for() -> None:
    assert waits_for(zone(condition(), condition("Accepted"), condition("Strange", "False"))) == []
    assert waits_for(zone(condition(status="False"), condition("Accepted"))) == ["Programmed is False (Why): Because."]
    assert waits_for(zone()) == ["no controller has judged it yet; does the manager run?"]
    assert waits_for({"kind": "ConfigMap", "metadata": {"name": "x"}}) == []
    deleted = zone(condition(), condition("Accepted"), deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["a/b"])
    assert waits_for(deleted) == ["it is being deleted: held by finalizer a/b"]
