"""Compiling one version of a Provider: every schema checked, every expression compiled in the environment it will run in.

Works on the raw version, so that a Provider with several faults has all of them named. Never evaluates an expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from controllers.core.cel.cost import LIMIT_STEPS
from controllers.core.cel.expression import Environment, Expression, Failure, Outcome
from controllers.core.providercontract.environment import (
    claim_environment,
    conversion_environment,
    pair_environment,
)
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field, judge_choice, require_list, require_text
from controllers.core.providercontract.payload import PayloadSchema
from controllers.core.providercontract.rule import CelConversion, Rule, RuleBook, Toggle
from controllers.core.providercontract.schema_check import judge_schema
from controllers.core.providercontract.target import STATUS_DATA, Target
from controllers.core.providercontract.webhook import judge_conversion

EXPRESSION_LIMIT: Final = 64
"""Expressions of one list."""
CLAIM_LIMIT_STEPS: Final = 2 * LIMIT_STEPS
"""Steps that all expressions of one kind may take together."""
VERSION_LIMIT_CHARS: Final = 16_384
"""Characters of all expressions of a version; what they cost to compile is bounded with them."""
CLAIM_VALIDATIONS: Final = (
    "require-ttl",
    "require-a-addresses",
    "require-aaaa-addresses",
    "require-txt-values",
    "forbid-cname-apex",
    "forbid-txt-non-printable-ascii",
)
PAIR_VALIDATIONS: Final = ("forbid-cname-coexistence",)

_ANYTHING: Final[Mapping[str, Any]] = {}


@dataclass(slots=True)
class Compilation:
    """What compiling found: the compiled parts, and the faults of those that are none."""

    schemas: dict[tuple[Target, str], PayloadSchema] = field(default_factory=dict)
    books: dict[Target, RuleBook] = field(default_factory=dict)
    pairs: RuleBook | None = None
    conversions: dict[Target, CelConversion] = field(default_factory=dict)
    withdrawal_schema: PayloadSchema | None = None
    faults: list[Fault] = field(default_factory=list)
    broken: set[tuple[Target, str]] = field(default_factory=set)


def expression_chars(version: Field) -> int:
    """Return how many characters the expressions of a raw version have together; lists that are too long are not read."""
    sources = [version.child(target.value).at("conversion.toStorage.cel") for target in Target]
    for contract in (*(version.child(target.value) for target in Target), version.child("zoneUnit")):
        for name, key in (("validationRules", "rule"), ("disableValidations", "when")):
            if contract.child(name).size <= EXPRESSION_LIMIT:
                sources += [item.child(key) for item in contract.child(name).items()]
    return sum(len(each.text or "") for each in sources)


def compile_version(version: Field, label: str) -> Compilation:
    """Compile a raw version; `label` is how messages name it."""
    found = Compilation()
    if (chars := expression_chars(version)) > VERSION_LIMIT_CHARS:
        found.faults.append(too_long(version, chars, VERSION_LIMIT_CHARS))
        return found
    for target in Target:
        for name in (*target.payloads, STATUS_DATA):
            holder = version.child(target.value).at(f"schemas.{name}")
            if schema := _schema(holder, found.faults):
                found.schemas[target, name] = schema
            elif holder.present:
                found.broken.add((target, name))
    found.withdrawal_schema = _schema(version.at(f"recordWithdrawal.schemas.{STATUS_DATA}"), found.faults)
    for target in Target:
        contract = version.child(target.value)
        if _has_expressions(contract):
            environment = claim_environment(target, _payload_schemas(target, found))
            found.books[target] = _book(contract, label, environment, CLAIM_VALIDATIONS, found.faults)
        if conversion := _conversion(contract.child("conversion"), target, found):
            found.conversions[target] = conversion
    if _has_expressions(version.child("zoneUnit")):
        pairs = pair_environment(_payload_schemas(Target.RECORD_SET, found))
        found.pairs = _book(version.child("zoneUnit"), label, pairs, PAIR_VALIDATIONS, found.faults)
    return found


def too_long(field: Field, chars: int, limit_chars: int) -> Fault:
    """Return the fault that expressions have too many characters together."""
    return Fault(
        field.path,
        f"expressions of {chars} characters together",
        f"at most {limit_chars} characters of them",
        FaultReason.TOO_LONG,
    )


def _has_expressions(contract: Field) -> bool:
    return any(contract.child(name).value not in (None, []) for name in ("validationRules", "disableValidations"))


def _schema(holder: Field, faults: list[Fault]) -> PayloadSchema | None:
    if not holder.present:
        return None
    schema = holder.child("openAPIV3Schema")
    objections = list(judge_schema(schema))
    faults.extend(objections)
    return PayloadSchema(schema.value) if not objections and isinstance(schema.value, Mapping) else None


def _payload_schemas(target: Target, found: Compilation) -> dict[str, Mapping[str, Any]]:
    """Schemas of a kind's payloads; a faulty one says nothing, so that expressions are not blamed for its faults."""
    unknown = {name: _ANYTHING for name in target.payloads if (target, name) in found.broken}
    return unknown | {
        name: found.schemas[target, name].schema for name in target.payloads if (target, name) in found.schemas
    }


def _book(
    contract: Field, label: str, environment: Environment, validations: Sequence[str], faults: list[Fault]
) -> RuleBook:
    rules, toggles = contract.child("validationRules"), contract.child("disableValidations")
    made_rules = [_rule(item, environment, faults) for item in _items(rules, "rule and message", faults)]
    made_toggles = [
        _toggle(item, environment, validations, faults) for item in _items(toggles, "name and when", faults)
    ]
    book = RuleBook(label, environment, tuple(filter(None, made_rules)), tuple(filter(None, made_toggles)))
    steps = sum(rule.expression.steps for rule in book.rules)
    steps += sum(toggle.expression.steps for toggle in book.toggles)
    if steps > CLAIM_LIMIT_STEPS:
        allowed = f"at most {CLAIM_LIMIT_STEPS} of them; bound what the expressions read with maxLength or maxItems"
        faults.append(
            Fault(contract.path, f"expressions that may take {steps} steps together", allowed, FaultReason.TOO_MANY)
        )
    return book


def _items(field: Field, what: str, faults: list[Fault]) -> Iterator[Field]:
    if not field.present or field.value == []:
        return iter(())
    objections = list(require_list(field, f"a list of {what}", EXPRESSION_LIMIT))
    faults.extend(objections)
    return iter(()) if objections else field.items()


def _rule(item: Field, environment: Environment, faults: list[Fault]) -> Rule | None:
    expression = _expression(item.child("rule"), environment, Outcome.TRUTH, faults)
    return Rule(expression, item.child("message").text, item.path) if expression else None


def _toggle(item: Field, environment: Environment, validations: Sequence[str], faults: list[Fault]) -> Toggle | None:
    name = item.child("name")
    objections = list(require_text(name, f"one of {', '.join(validations)}")) or list(judge_choice(name, validations))
    faults.extend(objections)
    expression = _expression(item.child("when"), environment, Outcome.TRUTH, faults)
    return Toggle(name.text, expression, item.path) if expression and name.text and not objections else None


def _expression(source: Field, environment: Environment, outcome: Outcome, faults: list[Fault]) -> Expression | None:
    required = "a CEL expression of type bool" if outcome is Outcome.TRUTH else "a CEL expression that gives an object"
    objections = list(require_text(source, required))
    faults.extend(objections)
    if objections or source.text is None:
        return None
    compiled = environment.compile(source.text, outcome)
    if isinstance(compiled, Failure):
        faults.append(source.fault(f"{required}; this one is refused: {compiled.reason}"))
        return None
    return compiled


def _conversion(conversion: Field, target: Target, found: Compilation) -> CelConversion | None:
    if not conversion.present:
        return None
    to_storage = conversion.child("toStorage")
    found.faults.extend(judge_conversion(to_storage))
    if not to_storage.child("cel").present:
        return None
    environment = conversion_environment(target, _payload_schemas(target, found))
    expression = _expression(to_storage.child("cel"), environment, Outcome.OBJECT, found.faults)
    return CelConversion(environment, expression) if expression else None
