"""Evaluates compiled rules over an object.

Owns the walk, which rules need not be asked, and the faults of rules that do not hold. Bounded in time: evaluation
holds the interpreter.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from standalone.schema.cel.engine import BudgetExceededError, EvaluationError, Program
from standalone.schema.cel.rules import OLD_KNOWN, OLD_VALUE, CompiledRule, RuleNode
from standalone.schema.cel.value import to_cel
from standalone.schema.correlation import old_items, old_member
from standalone.schema.equality import same
from standalone.schema.fault import Fault, FaultKind, Omitted, invalid
from standalone.schema.node import ABSENT
from standalone.schema.path import Path, spelled_with_keys

BUDGET_S: Final = 2.0
_MESSAGE_LIMIT_BYTES: Final = 5 * 1024
_REASONS: Final[Mapping[str, FaultKind]] = {kind.value: kind for kind in FaultKind}
OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"


def rule_faults(tree: RuleNode, obj: dict[str, Any], old: Any) -> list[Fault]:
    """Return a fault for each rule that does not hold; `old` is the object before the update, or ABSENT.

    A rule that does not look at `oldSelf` is asked only where something changed.
    """
    evaluation = _Evaluation()
    with suppress(_StopEvaluation):
        evaluation.visit(tree, obj, old, None, unchanged=False)
    return evaluation.faults


class _StopEvaluation(Exception):  # noqa: N818 - ends the walk, is no error of the caller
    """The budget is spent; the fault that says so is recorded."""


class _Evaluation:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._deadline_s = monotonic() + BUDGET_S

    def visit(self, tree: RuleNode, value: Any, old: Any, path: Path | None, *, unchanged: bool) -> None:
        if value is None:
            return
        unchanged = unchanged or (old is not ABSENT and same(value, old))
        if unchanged and not tree.transitions_below:
            return
        if old is None:
            old = ABSENT
        for rule in tree.rules:
            self._ask(tree, rule, value, old, path, unchanged=unchanged)
        if isinstance(value, dict):
            self._visit_members(tree, value, old, path, unchanged=unchanged)
        elif isinstance(value, list) and tree.items is not None:
            earlier = old_items(tree.node, value, old)
            for index, item in enumerate(value):
                before = earlier[index] if earlier else ABSENT
                self.visit(tree.items, item, before, Path(path, index), unchanged=unchanged)

    def _visit_members(
        self, tree: RuleNode, value: dict[str, Any], old: Any, path: Path | None, *, unchanged: bool
    ) -> None:
        if tree.additional is not None:
            for name, member in value.items():
                if name not in tree.node.properties:
                    step = Path(path, name, is_key=True)
                    self.visit(tree.additional, member, old_member(old, name, member), step, unchanged=unchanged)
        for name, below in tree.properties.items():
            if name in value:
                member = value[name]
                self.visit(below, member, old_member(old, name, member), Path(path, name), unchanged=unchanged)

    def _ask(
        self, tree: RuleNode, rule: CompiledRule, value: Any, old: Any, path: Path | None, *, unchanged: bool
    ) -> None:
        if _settled(rule, value, old, unchanged=unchanged):
            return
        if monotonic() > self._deadline_s:
            self._stop(tree, path, OUT_OF_BUDGET)
        data = _data(tree, rule, value, old)
        try:
            holds = rule.program.evaluate(data)
        except BudgetExceededError:
            detail = "call cost exceeds limit"
            self._stop(tree, path, f"no further validation rules will be run due to {detail} for rule: {_told(rule)}")
        except EvaluationError as failed:
            self.faults.append(_failed(tree, rule, path, str(failed)))
            return
        if holds is not True:
            self.faults.append(_broken(tree, rule, value, path, data))

    def _stop(self, tree: RuleNode, path: Path | None, detail: str) -> None:
        self.faults.append(invalid(spelled_with_keys(path), _type_name(tree), detail))
        raise _StopEvaluation


def _settled(rule: CompiledRule, value: Any, old: Any, *, unchanged: bool) -> bool:
    """Return whether a rule need not be asked: its answer is known, or there is nothing to compare with."""
    if not rule.is_transition:
        return unchanged
    if old is ABSENT:
        return not rule.takes_optional_old
    return unchanged and rule.unchanged_paths is not None and _all_present(value, rule.unchanged_paths)


def _all_present(value: Any, paths: list[tuple[str, ...]]) -> bool:
    for path in paths:
        member = value
        for name in path:
            if not isinstance(member, dict) or name not in member:
                return False
            member = member[name]
    return True


def _data(tree: RuleNode, rule: CompiledRule, value: Any, old: Any) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if rule.self_uses is not None:
        data["self"] = to_cel(tree.node, value, rule.self_uses, is_resource=tree.is_resource)
    if rule.old_uses is None:
        return data
    before = None
    if old is not ABSENT:
        before = to_cel(tree.node, old, rule.old_uses, is_resource=tree.is_resource, like=value)
    if rule.takes_optional_old:
        return {**data, OLD_KNOWN: old is not ABSENT, OLD_VALUE: before}
    return {**data, "oldSelf": before}


def _broken(tree: RuleNode, rule: CompiledRule, value: Any, path: Path | None, data: Mapping[str, Any]) -> Fault:
    detail = _evaluated_message(rule.message, data) if rule.message is not None else None
    if detail is None:
        detail = rule.rule.message.strip() or f"failed rule: {_told(rule)}"
    kind = _REASONS.get(rule.rule.reason, FaultKind.INVALID)
    shown = Omitted.OMITTED if isinstance(value, dict | list) else value
    return Fault(kind, _pointed(rule, path), shown, detail)


def _pointed(rule: CompiledRule, path: Path | None) -> str:
    if not rule.field_path:
        return spelled_with_keys(path)
    return rule.field_path if path is None else f"{spelled_with_keys(path)}.{rule.field_path}"


def _evaluated_message(program: Program, data: Mapping[str, Any]) -> str | None:
    """Return the message, None when the expression fails or yields nothing that can be shown on one line."""
    try:
        text = program.evaluate(data)
    except EvaluationError:
        return None
    stripped = text.strip() if isinstance(text, str) else ""
    fits = len(stripped.encode()) <= _MESSAGE_LIMIT_BYTES and "\n" not in stripped
    return stripped if stripped and fits else None


def _failed(tree: RuleNode, rule: CompiledRule, path: Path | None, words: str) -> Fault:
    detail = f"{words} evaluating rule: {_told(rule)}"
    if words.startswith("No matching overloads"):
        detail = (
            "'no such overload': call arguments did not match a supported operator, function or macro signature "
            f"for rule: {_told(rule)}"
        )
    return invalid(spelled_with_keys(path), _type_name(tree), detail)


def _told(rule: CompiledRule) -> str:
    return rule.rule.message.strip() or rule.rule.rule.strip()


def _type_name(tree: RuleNode) -> str:
    return tree.node.types[0] if len(tree.node.types) == 1 else ""
