"""Our engine and another one that shares no code with it give the same answers; where they do not, the language says who is right.

The language is that of github.com/google/cel-spec, `doc/langdef.md`, whose section is named beside each difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.edge_provider import provider as edge_provider
from controllers.api.provider import parse_provider
from controllers.api.reference import ProviderRef
from controllers.core.cel.expression import Environment, Expression, Failure, Outcome, Values
from controllers.core.cel.shape import shape_of
from controllers.core.providercontract.contract import Contract, Contracts
from controllers.core.providercontract.environment import claim_variables
from controllers.core.providercontract.rule import Rule, RuleBook, Toggle
from controllers.core.providercontract.target import Target
from controllers.manifests import manifests
from tests.controllers.core.admission.build import BODIES, TYPES, provider, record_set, zone, zone_class
from tests.controllers.core.cel.grammar import SCHEMA, expressions, values
from tests.controllers.core.cel.second_opinion import Answer, ask

ENVIRONMENT: Final = Environment({"self": shape_of(SCHEMA)})
FEW, MANY = 150, 4000
OURS_ALONE: Final = (".?", ".lowerAscii()", ".substring(", ".indexOf(")
"""What rules may use and the other engine does not have: optional fields, and the extension of texts."""

ABSORBING: Final = ("&&", "||", ".all(", ".exists(")
"""What may have a value although a part of it is an error; the other engine does not always let it, see DIFFERENT."""


def ours(text: str, value: dict[str, Any]) -> Any:
    expression = ENVIRONMENT.compile(text, Outcome.TRUTH)
    assert isinstance(expression, Expression), (text, expression)
    found = ENVIRONMENT.admit({"self": value})
    assert isinstance(found, Values), found
    return _answer(expression, found)


def _answer(expression: Expression, found: Values) -> Any:
    result = expression.evaluate(found)
    return Answer.ERROR if isinstance(result, Failure) else result


def hold_alike(text: str, value: dict[str, Any]) -> None:
    our, their = ours(text, value), ask(text, {"self": value})
    absorbs = their is Answer.ERROR and any(each in text for each in ABSORBING)
    assert our == their or absorbs, (text, value, our, their)


@settings(max_examples=FEW, deadline=None)
@given(expressions(), st.lists(values, min_size=1, max_size=3))
def test_generated_expressions_are_answered_alike(text: str, several: list[dict[str, Any]]) -> None:
    for value in several:
        hold_alike(text, value)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(expressions(4), st.lists(values, min_size=2, max_size=4))
def test_many_generated_expressions_are_answered_alike(text: str, several: list[dict[str, Any]]) -> None:
    for value in several:
        hold_alike(text, value)


DIFFERENT: Final[list[tuple[str, str, dict[str, Any], Any, Any]]] = [
    (
        "Macros: of has(e.f), e is evaluated as any expression, and a field that a map lacks is an error",
        "has(self.inner.name)",
        {},
        Answer.ERROR,
        False,
    ),
    (
        "Logical Operators: true || e is true, also where e is an error; theirs lets errors within macros go through",
        "true || self.tags.exists_one(each, self.on)",
        {"tags": ["a"]},
        True,
        Answer.ERROR,
    ),
    (
        "List of Standard Definitions: + of two strings is a string, which has contains",
        "('a' + 'b').contains('b')",
        {},
        True,
        Answer.ERROR,
    ),
]


@pytest.mark.parametrize(
    ("text", "value", "our", "their"), [each[1:] for each in DIFFERENT], ids=lambda each: str(each)
)
def test_differences_are_known_and_ours_is_what_the_language_says(
    text: str, value: dict[str, Any], our: Any, their: Any
) -> None:
    assert ours(text, value) == our
    assert ask(text, {"self": value}) == their


def _contracts() -> Iterator[Contract]:
    """Yield every version of the Providers that come with the product, and of those that benches and tests use."""
    known = [each for each in manifests() if each["kind"] == "Provider"]
    for manifest in (*known, edge_provider(), provider()):
        parsed = parse_provider(manifest)
        for version in parsed.spec.versions:
            found = Contracts().find(parsed, ProviderRef(name=parsed.meta.name, version=version.name))
            assert isinstance(found, Contract), found
            yield found


OPTIONS: Final[list[dict[str, Any]]] = [
    {},
    {"alias": True},
    {"alias": {"dnsName": "a.example"}},
    {"tags": []},
    {"tags": ["a:b", "A:b"]},
    {"tags": ["cf-a:b", ":"]},
    {"ttl": "Auto", "proxied": True},
]


def _claims(target: Target) -> Iterator[dict[str, Any]]:
    if target is not Target.RECORD_SET:
        yield zone_class() if target is Target.ZONE_CLASS else zone()
        return
    for record_type in TYPES:
        for ttl in (1, 60, 86400, 86401):
            for options in OPTIONS:
                yield record_set(record_type, {"spec.ttl": ttl, "spec.options": options})


def _pairs() -> Iterator[dict[str, Any]]:
    """Yield pairs of record sets at one name, as rules over pairs read them."""
    about = {"zone": {"namespace": "app", "name": "example", "domainName": "example.com"}, "toVersion": "v1"}
    for one, other in product(TYPES, TYPES):
        items = {
            name: {"name": "www", "type": each, **BODIES[each]} for name, each in (("self", one), ("other", other))
        }
        yield {**items, **about, "provider": {"name": "edge.example.com", "version": "v1"}}


def hold_book(book: RuleBook, read: dict[str, Any]) -> int:
    """Ask both about every expression that both have; return how many those were."""
    found = book.admit(read)
    assert isinstance(found, Values), found
    rules: list[Rule | Toggle] = [*book.rules, *book.toggles]
    shared = [each.expression for each in rules if not any(own in each.expression.text for own in OURS_ALONE)]
    for each in shared:
        assert _answer(each, found) == ask(each.text, read), (each.text, read)
    return len(shared)


def test_rules_and_toggles_of_providers_are_answered_alike() -> None:
    asked = 0
    for contract in _contracts():
        for target in (Target.ZONE_CLASS, Target.ZONE, Target.RECORD_SET):
            if (book := contract.book(target)) is not None:
                asked += sum(hold_book(book, claim_variables(claim)) for claim in _claims(target))
    assert asked > MANY


def test_rules_over_pairs_of_record_sets_are_answered_alike() -> None:
    books = [contract.pairs for contract in _contracts() if contract.pairs is not None]
    assert books
    for book in books:
        for pair in _pairs():
            hold_book(book, pair)
