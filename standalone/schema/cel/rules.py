"""Rules compiled with the schema.

Owns one tree beside the schema's, with programs where there are rules. Evaluation is in `evaluate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from standalone.schema import fault
from standalone.schema.cel import source
from standalone.schema.cel.declared import Declarations, form_of, is_exposed, value_form
from standalone.schema.cel.engine import (
    CompileError,
    Environment,
    Program,
    ResultType,
    WrongResultError,
    known_type,
    list_type,
    map_type,
    message_type,
)
from standalone.schema.cel.fieldpath import leads_somewhere, spelled_field_path
from standalone.schema.cel.source import Uses
from standalone.schema.node import Node, Rule

_NAMES: Final = {"dynamic": "dyn", "integer": "int", "number": "double", "boolean": "bool"}
OLD_VALUE: Final = "oldSelf__value"
OLD_KNOWN: Final = "oldSelf__known"
_OPTIONAL_OLD: Final = "cel.bind(oldSelf, {known} ? optional.of({value}) : optional.none(), ({rule}))"


@dataclass(frozen=True, slots=True, eq=False)
class CompiledRule:
    """A rule with its programs and what of `self` and `oldSelf` they can reach (None: nothing)."""

    rule: Rule
    program: Program
    message: Program | None
    self_uses: Uses | None
    old_uses: Uses | None
    unchanged_paths: list[tuple[str, ...]] | None
    """Not None for rules that only compare members with their old values."""
    field_path: str
    """The path that faults point at, relative to the rule's own position; empty for the position itself."""

    @property
    def is_transition(self) -> bool:
        return self.old_uses is not None

    @property
    def takes_optional_old(self) -> bool:
        return bool(self.rule.optional_old_self)


@dataclass(frozen=True, slots=True, eq=False)
class RuleNode:
    """Rules at one position and below it."""

    node: Node
    is_resource: bool
    rules: tuple[CompiledRule, ...] = ()
    properties: Mapping[str, RuleNode] = field(default_factory=dict)
    additional: RuleNode | None = None
    items: RuleNode | None = None
    quick_bytes: int = source.ANY_BYTES
    """The size of the largest objects over which every expression here and below is over before it matters."""
    transitions_below: bool = False
    """Whether there is a rule on `oldSelf` here or below: such rules speak even where nothing changed."""

    @property
    def may_take_long(self) -> bool:
        """Whether there are objects over which an expression here or below is not quick."""
        return self.quick_bytes < source.ANY_BYTES


def compile_rules(root: Node, path: str, *, is_resource: bool = True) -> RuleNode | None:
    """Return the rules of a schema, None when there are none; `path` is the schema's own.

    Raises SchemaError with one fault for each expression that does not compile.
    """
    compiler = _Compiler()
    compiler.declare(root, is_resource=is_resource)
    tree = compiler.compile(root, path, is_resource=is_resource)
    if compiler.faults:
        raise fault.SchemaError(compiler.faults)
    return tree


class _Compiler:
    def __init__(self) -> None:
        self.faults: list[fault.Fault] = []
        self._declarations = Declarations()
        self._pool: Any = None
        self._run_time = Environment(
            {
                name: known_type("dyn" if name != OLD_KNOWN else "bool")
                for name in ("self", "oldSelf", OLD_VALUE, OLD_KNOWN)
            }
        )

    def declare(self, root: Node, *, is_resource: bool) -> None:
        """Declare every type before the first pool is made: types are shared by all rules of a schema."""
        self._declare_objects(root, is_resource=is_resource)
        self._pool = self._declarations.pool()

    def _declare_objects(self, node: Node, *, is_resource: bool) -> None:
        if value_form(node) == "object" and is_exposed(node):
            self._declarations.message_of(node, is_resource=is_resource)
        for child in (*node.properties.values(), node.additional, node.items):
            if child is not None:
                self._declare_objects(child, is_resource=child.embedded)

    def compile(self, node: Node, path: str, *, is_resource: bool) -> RuleNode | None:
        if not (node.rules or node.rules_below):
            return None
        rules = self._compile_own(node, path, is_resource=is_resource)
        properties = {}
        for name, child in node.properties.items():
            if (below := self.compile(child, f"{path}.properties[{name}]", is_resource=child.embedded)) is not None:
                properties[name] = below
        additional = self._below(node.additional, f"{path}.additionalProperties")
        items = self._below(node.items, f"{path}.items")
        children = [*properties.values(), *(child for child in (additional, items) if child is not None)]
        transitions = any(rule.is_transition for rule in rules) or any(child.transitions_below for child in children)
        quick_bytes = min(
            (
                *(source.quick_bytes(text) for each in node.rules for text in (each.rule, each.message_expression)),
                *(child.quick_bytes for child in children),
            ),
            default=source.ANY_BYTES,
        )
        return RuleNode(node, is_resource, rules, properties, additional, items, quick_bytes, transitions)

    def _below(self, node: Node | None, path: str) -> RuleNode | None:
        return None if node is None else self.compile(node, path, is_resource=node.embedded)

    def _compile_own(self, node: Node, path: str, *, is_resource: bool) -> tuple[CompiledRule, ...]:
        if not node.rules:
            return ()
        if not is_exposed(node):
            detail = "failed to convert to declType for CEL validation rules"
            self.faults.append(fault.Fault(fault.FaultKind.INTERNAL, f"{path}.x-kubernetes-validations", "", detail))
            return ()
        self_type = self._type_of(node, is_resource=is_resource)
        typed = Environment({"self": self_type, "oldSelf": self_type}, self._pool)
        optional = Environment({"self": self_type, OLD_VALUE: self_type, OLD_KNOWN: known_type("bool")}, self._pool)
        compiled = []
        for index, rule in enumerate(node.rules):
            environment = optional if rule.optional_old_self else typed
            here = f"{path}.x-kubernetes-validations[{index}]"
            if not leads_somewhere(rule.field_path, node):
                self.faults.append(fault.invalid(f"{here}.fieldPath", rule.field_path, "must be a valid path"))
                continue
            one = self._compile_rule(rule, environment, here)
            if one is not None:
                compiled.append(one)
        return tuple(compiled)

    def _compile_rule(self, rule: Rule, typed: Environment, path: str) -> CompiledRule | None:
        expressions = [text for text in (rule.rule, rule.message_expression) if text.strip()]
        uses_old = source.uses_of([rule.rule], "oldSelf") is not None
        program = self._program(rule, rule.rule, typed, ResultType.BOOL, f"{path}.rule")
        message = None
        if rule.message_expression.strip():
            message = self._program(
                rule, rule.message_expression, typed, ResultType.STRING, f"{path}.messageExpression"
            )
        if program is None:
            return None
        if rule.optional_old_self is not None and not uses_old:
            detail = "may not be set if oldSelf is not used in rule"
            self.faults.append(fault.invalid(f"{path}.optionalOldSelf", rule.optional_old_self, detail))
        return CompiledRule(
            rule=rule,
            program=program,
            message=message,
            self_uses=source.uses_of(expressions, "self"),
            old_uses=source.uses_of(expressions, "oldSelf") if uses_old else None,
            unchanged_paths=None if rule.optional_old_self else source.unchanged_paths(rule.rule),
            field_path=spelled_field_path(rule.field_path),
        )

    def _program(
        self, rule: Rule, expression: str, typed: Environment, result: ResultType, path: str
    ) -> Program | None:
        """Check the expression with static types, then compile it for plain values, which is what it runs on."""
        text = source.rewritten(expression)
        if rule.optional_old_self:
            text = _OPTIONAL_OLD.format(known=OLD_KNOWN, value=OLD_VALUE, rule=text)
        try:
            typed.compile(text, result)
            return self._run_time.compile(text)
        except CompileError as refused:
            self.faults.append(fault.invalid(path, expression, _refusal(refused, result)))
            return None

    def _type_of(self, node: Node, *, is_resource: bool) -> Any:
        """Return the static type of `self` at a node; rules are not asked about null, so it is never nullable."""
        form = value_form(node)
        if form == "object":
            return message_type(self._declarations.message_of(node, is_resource=is_resource))
        if form == "array" and node.items is not None:
            return list_type(self._element_type(node.items))
        if form == "map" and node.additional is not None:
            return map_type(self._element_type(node.additional))
        return known_type(_NAMES.get(form, form))

    def _element_type(self, node: Node) -> Any:
        return known_type("dyn") if form_of(node) == "dynamic" else self._type_of(node, is_resource=node.embedded)


def _refusal(refused: CompileError, expected: ResultType) -> str:
    subject = "cel expression" if expected is ResultType.BOOL else "messageExpression"
    if isinstance(refused, WrongResultError):
        return f"{subject} {refused}"
    return (
        f"compilation failed: {refused}" if expected is ResultType.BOOL else f"{subject} compilation failed: {refused}"
    )
