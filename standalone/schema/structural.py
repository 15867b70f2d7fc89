"""The structural schema of one custom resource version: what the API server does with objects of that version.

Owns the order of the passes (prune, default, validate) and is the one entry to this package. Never does I/O; a schema
is parsed and compiled once for each CustomResourceDefinition version and shared by all requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from standalone.schema.cel.apart import faults_of
from standalone.schema.cel.rules import RuleNode, compile_rules
from standalone.schema.check import check
from standalone.schema.default import apply_defaults
from standalone.schema.defaultcheck import default_faults, default_rule_faults
from standalone.schema.embedded import check_embedded
from standalone.schema.fault import BLOCKING, NO_FIELD, Fault, FaultKind, SchemaError
from standalone.schema.node import ABSENT, Node
from standalone.schema.parse import parse_node
from standalone.schema.prune import prune_object
from standalone.schema.structure import schema_faults
from standalone.schema.uniqueness import check_uniqueness

_SKIPPED_DETAIL = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


@dataclass(frozen=True, slots=True, eq=False)
class StructuralSchema:
    """A parsed `openAPIV3Schema`; immutable and safe to share; equal only to itself."""

    root: Node
    rules: RuleNode | None = None

    @classmethod
    def parse(cls, openapi: Mapping[str, Any], field: str = "openAPIV3Schema") -> StructuralSchema:
        """Parse and judge a schema; `field` is its own path inside the CustomResourceDefinition.

        Raises SchemaError that lists every fault when the schema is not structural. What was parsed lately is not parsed again.
        """
        content = orjson.dumps(openapi)
        found = _parsed.get(content)
        if found is None:
            found = cls._parse(openapi, field)
            for oldest in tuple(_parsed)[: 1 - _PARSED]:  # a copy: other threads parse, too
                _parsed.pop(oldest, None)
            _parsed[content] = found
        return found

    @classmethod
    def _parse(cls, openapi: Mapping[str, Any], field: str) -> StructuralSchema:
        if faults := schema_faults(openapi, field):
            raise SchemaError(faults)
        root = parse_node(openapi)
        if faults := default_faults(root, field):
            raise SchemaError(faults)
        rules = compile_rules(root, field)
        if rules is not None and (faults := default_rule_faults(root, rules, field)):
            raise SchemaError(faults)
        return cls(root, rules)

    @property
    def may_take_long(self) -> bool:
        """Whether `validate` may have to wait for rules that are evaluated apart."""
        return self.rules is not None and self.rules.may_take_long

    def default(self, obj: dict[str, Any], old: dict[str, Any] | None = None) -> None:
        """Fill in defaults in place, and drop nulls where the schema does not admit them.

        `old` is the stored object, already defaulted: sub-trees equal to it are skipped.
        """
        apply_defaults(self.root, obj, ABSENT if old is None else old)

    def prune(self, obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
        """Drop unknown fields in place and return their paths, sorted: `spec.tags[0].nmae`.

        `old` is the stored object, already pruned: sub-trees equal to it are skipped.
        """
        return prune_object(self.root, obj, ABSENT if old is None else old)

    def validate(self, obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[Fault]:
        """Return every fault of an object that is pruned and defaulted; empty when it is valid.

        With `old` the object is judged as an update: what did not change is not judged again (ratcheting), and rules
        see `oldSelf`. Neither object is changed.
        """
        previous = ABSENT if old is None else old
        faults: list[Fault] = []
        check(self.root, obj, previous, None, faults)
        check_embedded(self.root, obj, previous, None, faults)
        faults.extend(self._uniqueness_faults(obj, old))
        if self.rules is not None:
            faults.extend(_rules_skipped(faults) or faults_of(self.rules, obj, previous))
        return _distinct(faults)

    def _uniqueness_faults(self, obj: dict[str, Any], old: dict[str, Any] | None) -> list[Fault]:
        """Duplicates count as an update's fault only when the stored object had none."""
        faults: list[Fault] = []
        check_uniqueness(self.root, obj, ABSENT if old is None else old, None, faults)
        if faults and old is not None:
            earlier: list[Fault] = []
            check_uniqueness(self.root, old, ABSENT, None, earlier)
            return [] if earlier else faults
        return faults


_PARSED: Final = 64
_parsed: Final[dict[bytes, StructuralSchema]] = {}
"""Who judges a definition parses its schema; who serves it then finds it here."""


def _distinct(faults: list[Fault]) -> list[Fault]:
    if len(faults) < 2:
        return faults
    return list({(fault.kind, fault.message): fault for fault in faults}.values())


def _rules_skipped(faults: list[Fault]) -> list[Fault]:
    """Rules cannot trust the shape of an object with such faults; one more fault says that they were not asked."""
    if any(fault.kind in BLOCKING for fault in faults):
        return [Fault(FaultKind.INVALID, NO_FIELD, None, _SKIPPED_DETAIL)]
    return []
