"""Rules, toggles and conversions of a Provider version: compiled expressions and what their results mean for a claim.

An expression that fails when it is evaluated is a refusal that names it, never a crash and never a pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from controllers.core.cel.expression import Environment, Expression, Failure, Values
from controllers.core.providercontract.fault import Fault, describe


@dataclass(frozen=True, slots=True)
class Rule:
    """An expression that must be true; `place` is its path in the Provider."""

    expression: Expression
    message: str | None
    place: str


@dataclass(frozen=True, slots=True)
class Toggle:
    """An expression that switches the core validation `name` off where it is true."""

    name: str
    expression: Expression
    place: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What rules say: `faults` are about the claim, `failures` are rules that could not be evaluated on it."""

    faults: tuple[Fault, ...] = ()
    failures: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The expressions over one kind of claim, in one environment."""

    label: str
    environment: Environment
    rules: tuple[Rule, ...] = ()
    toggles: tuple[Toggle, ...] = ()

    def admit(self, variables: Mapping[str, object]) -> Values | Fault:
        """Return what the expressions read, or the fault that a claim is too large for them."""
        values = self.environment.admit(variables)
        if isinstance(values, Failure):
            return Fault(
                "spec", f"a claim that the rules of {self.label} cannot read: {values.reason}", "a smaller one"
            )
        return values

    def judge(self, values: Values) -> Judgement:
        """Evaluate the rules."""
        faults, failures = [], []
        for rule in self.rules:
            result = rule.expression.evaluate(values)
            if isinstance(result, Failure):
                failures.append(_failed(self.label, rule.place, rule.expression, result))
            elif result is not True:
                faults.append(_broken(self.label, rule))
        return Judgement(tuple(faults), tuple(failures))

    def switched_off(self, values: Values) -> Iterator[tuple[str, bool | Fault]]:
        """Yield each toggle's validation with whether it is off, or the fault that the toggle could not be evaluated."""
        for toggle in self.toggles:
            result = toggle.expression.evaluate(values)
            if isinstance(result, Failure):
                yield toggle.name, _failed(self.label, toggle.place, toggle.expression, result)
            else:
                yield toggle.name, result is True


@dataclass(frozen=True, slots=True)
class CelConversion:
    """A conversion of a kind's payloads to the storage version by an expression."""

    environment: Environment
    expression: Expression

    def convert(self, payloads: Mapping[str, Any]) -> dict[str, Any] | Failure:
        """Return the payloads in the storage version, or why there are none."""
        values = self.environment.admit({"self": payloads})
        if isinstance(values, Failure):
            return values
        result = self.expression.evaluate(values)
        if isinstance(result, Failure):
            return result
        return result if isinstance(result, dict) else Failure("the expression gave no object")


def _broken(label: str, rule: Rule) -> Fault:
    found = f"values that {label} refuses by its rule {describe(rule.expression.text)}"
    return Fault("spec", found, rule.message or "what makes the rule true")


def _failed(label: str, place: str, expression: Expression, failure: Failure) -> Fault:
    found = f"values on which {place} of {label}, {describe(expression.text)}, fails: {failure.reason}"
    return Fault("spec", found, "values that the rule can be evaluated on")
