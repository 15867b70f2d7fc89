"""x-kubernetes-validations: when rules are asked, what they see, what is said when they do not hold."""

from __future__ import annotations

from typing import Any

import pytest

from standalone.schema.fault import FaultKind, SchemaError
from standalone.schema.structural import StructuralSchema
from tests.standalone.schema.builder import messages, obj, root, ruled

TEXT = {"type": "string", "maxLength": 100}
NUMBER = {"type": "integer"}
KEYED = {
    "type": "array",
    "maxItems": 20,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "required": ["k"], "properties": {"k": TEXT, "v": NUMBER}},
}


@pytest.mark.parametrize(
    "rule",
    [
        "self.s == 'hello' && self.s.size() == 5",
        "self.s.find('l+') == 'll' && self.s.findAll('l') == ['l', 'l']",
        "self.s.indexOf('l') == 2 && self.s.lastIndexOf('l') == 3 && self.s.replace('l', 'L', 1) == 'heLlo'",
        "self.i + 1 == 6 && self.n + 0.5 == 2.5",
        "type(self.ios) == string && self.ios.endsWith('%')",
        "self.when > timestamp('2020-01-01T00:00:00Z') && self.when.getFullYear() == 2021",
        "self.day == timestamp('2021-05-01T00:00:00Z')",
        "self.dur == duration('90m')",
        "self.raw == b'hello'",
        "self.o.__namespace__ == 'ns' && self.o.a__dash__b == 'ab' && self.o.c__dot__d__slash__e == 'cde'",
        "'a' in self.m && self.m['a'] == 1 && self.m.all(k, self.m[k] > 0)",
        "self.ints.sum() == 6 && self.ints.min() == 1 && self.ints.max() == 3 && !self.ints.isSorted()",
        "self.ints.indexOf(1) == 1 && self.ints.lastIndexOf(9) == -1",
        "self.lm.exists(e, e.k == 'p' && e.v == 1)",
        "has(self.o.x) && !has(self.missing) && !has(self.nul)",
        "self.?missing.orValue('x') == 'x' && self.?s.hasValue()",
        "self.b ? self.i == 5 : false",
        "isURL('https://example.org:80/p?q=1') && url('https://example.org:80/p?q=1').getHost() == 'example.org:80'",
        "url('https://example.org:80/p?q=1').getPort() == '80' && url('https://example.org/p').getPort() == ''",
        "url('https://e.org/p?q=1&q=2').getQuery()['q'] == ['1', '2']",
        "isIP('::1') && !isIP('1.2.3') && ip('192.0.2.1').family() == 4 && ip('::1').isLoopback()",
        "!ip.isCanonical('2001:DB8::1') && ip('2001:DB8::1') == ip('2001:db8::1')",
        "ip('224.0.0.1').isLinkLocalMulticast() && ip('169.254.1.1').isLinkLocalUnicast()",
        "ip('10.0.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast() && ip('::').isUnspecified()",
        "cidr('10.0.0.0/8').containsIP('10.1.1.1') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
        "cidr('10.0.0.5/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.5/8').prefixLength() == 8",
        "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33') && cidr('10.0.0.5/8').ip() == ip('10.0.0.5')",
        "quantity('1500m') == quantity('1.5') && quantity('1Ki').isGreaterThan(quantity('1k'))",
        "quantity('5').add(quantity('3')).compareTo(quantity('8')) == 0 && quantity('5').sub(2).asInteger() == 3",
        "isQuantity('1.5Gi') && !isQuantity('1.5Xi') && quantity('-1').sign() == -1 && !quantity('1.5').isInteger()",
        "isSemver('1.2.3-rc.1') && !isSemver('1.2') && semver('1.2', true).minor() == 2",
        "semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && semver('1.10.0').isGreaterThan(semver('1.9.9'))",
        "sets.contains(self.ints, [1, 2]) && sets.equivalent(self.ints, [1, 2, 3])",
        "self.ints.all(i, v, v > 0) && '%s-%d'.format([self.s, self.i]) == 'hello-5'",
    ],
)
def test_rules_that_hold_are_silent(rule: str) -> None:
    properties: dict[str, Any] = {
        "s": TEXT,
        "i": NUMBER,
        "n": {"type": "number"},
        "b": {"type": "boolean"},
        "ios": {"x-kubernetes-int-or-string": True},
        "when": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "dur": {"type": "string", "format": "duration"},
        "raw": {"type": "string", "format": "byte"},
        "nul": {"type": "string", "nullable": True},
        "missing": TEXT,
        "m": {"type": "object", "additionalProperties": NUMBER},
        "ints": {"type": "array", "items": NUMBER},
        "lm": KEYED,
        "o": {"type": "object", "properties": {"x": NUMBER, "namespace": TEXT, "a-b": TEXT, "c.d/e": TEXT}},
    }
    given = obj(
        s="hello",
        i=5,
        n=2,
        b=True,
        ios="50%",
        when="2021-05-01T10:00:00Z",
        day="2021-05-01",
        dur="1h30m",
        raw="aGVsbG8=",
        nul=None,
        m={"a": 1, "b": 2},
        ints=[3, 1, 2],
        lm=[{"k": "p", "v": 1}],
        o={"x": 1, "namespace": "ns", "a-b": "ab", "c.d/e": "cde"},
    )
    assert messages(ruled({"rule": rule}, **properties), given) == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"rule": "self.a > 5"}, "spec: Invalid value: failed rule: self.a > 5"),
        ({"rule": "self.a > 5", "message": "a must be large"}, "spec: Invalid value: a must be large"),
        (
            {"rule": "self.a > 5", "messageExpression": "'a is ' + string(self.a)"},
            "spec: Invalid value: a is 1",
        ),
        (
            {"rule": "self.a > 5", "messageExpression": "''", "message": "the other message"},
            "spec: Invalid value: the other message",
        ),
        (
            {"rule": "self.a > 5", "messageExpression": "'no ' + string(1 / (self.a - 1))"},
            "spec: Invalid value: failed rule: self.a > 5",
        ),
        (
            {"rule": "self.a > 5", "fieldPath": ".a", "reason": "FieldValueForbidden", "message": "no"},
            "spec.a: Forbidden: no",
        ),
        ({"rule": "self.a > 5", "reason": "FieldValueRequired", "message": "no"}, "spec: Required value: no"),
        (
            {"rule": "self.b == 'x'", "message": "b must be x"},
            'spec: Invalid value: "object": no such key: b evaluating rule: b must be x',
        ),
        (
            {"rule": "1 / (self.a - 1) == 1"},
            'spec: Invalid value: "object": division by zero evaluating rule: 1 / (self.a - 1) == 1',
        ),
    ],
)
def test_a_broken_rule_is_told_with_message_reason_and_path(rule: dict[str, Any], said: str) -> None:
    assert messages(ruled(rule, a=NUMBER, b=TEXT), obj(a=1)) == [said]


def test_a_rule_on_a_scalar_shows_the_value() -> None:
    checked = StructuralSchema.parse(
        root(
            {
                "type": "object",
                "properties": {
                    "labels": {
                        "type": "object",
                        "additionalProperties": {**TEXT, "x-kubernetes-validations": [{"rule": "self != 'x'"}]},
                    }
                },
            }
        )
    )
    assert messages(checked, obj(labels={"k": "x"})) == [
        "spec.labels[k]: Invalid value: \"x\": failed rule: self != 'x'"
    ]


def test_an_overload_that_is_missing_at_run_time_is_told() -> None:
    checked = ruled({"rule": "self.ios > 5"}, ios={"x-kubernetes-int-or-string": True})
    (said,) = messages(checked, obj(ios="x"))
    assert "call arguments did not match a supported operator, function or macro signature" in said


def test_transition_rules_speak_on_update_only() -> None:
    immutable = ruled({"rule": "self.zone == oldSelf.zone", "message": "zone is immutable"}, zone=TEXT, other=TEXT)
    assert messages(immutable, obj(zone="a")) == []
    assert messages(immutable, obj(zone="a", other="x"), obj(zone="a")) == []
    assert messages(immutable, obj(zone="b"), obj(zone="a")) == ["spec: Invalid value: zone is immutable"]


def test_optional_old_self_is_empty_on_create() -> None:
    growing = ruled(
        {"rule": "!oldSelf.hasValue() || oldSelf.value().n <= self.n", "optionalOldSelf": True, "message": "n grows"},
        n=NUMBER,
    )
    assert messages(growing, obj(n=1)) == []
    assert messages(growing, obj(n=2), obj(n=1)) == []
    assert messages(growing, obj(n=0), obj(n=1)) == ["spec: Invalid value: n grows"]
    creating = ruled({"rule": "oldSelf.hasValue()", "optionalOldSelf": True, "message": "never created"}, n=NUMBER)
    assert messages(creating, obj(n=1)) == ["spec: Invalid value: never created"]


def test_items_of_map_lists_are_compared_with_the_item_of_the_same_key() -> None:
    items = {**KEYED["items"], "x-kubernetes-validations": [{"rule": "self.v >= oldSelf.v", "message": "v grows"}]}  # type: ignore[dict-item]  # the values of a schema are of many types
    checked = StructuralSchema.parse(root({"type": "object", "properties": {"lm": {**KEYED, "items": items}}}))
    old = obj(lm=[{"k": "a", "v": 5}, {"k": "b", "v": 1}])
    new = obj(lm=[{"k": "b", "v": 1}, {"k": "c", "v": 0}, {"k": "a", "v": 4}])
    assert messages(checked, new, old) == ["spec.lm[2]: Invalid value: v grows"]


def test_sets_and_map_lists_are_compared_without_regard_to_order() -> None:
    strings = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
    checked = ruled({"rule": "self.lm == oldSelf.lm && self.s == oldSelf.s"}, lm=KEYED, s=strings, note=TEXT)
    old = obj(lm=[{"k": "a"}, {"k": "b"}], s=["x", "y"])
    assert messages(checked, obj(lm=[{"k": "b"}, {"k": "a"}], s=["y", "x"], note="n"), old) == []
    assert messages(checked, obj(lm=[{"k": "b"}], s=["y", "x"], note="n"), old) != []


def test_rules_that_only_look_at_the_present_are_ratcheted_and_transition_rules_are_not() -> None:
    spec = {
        "type": "object",
        "properties": {
            "part": {
                "type": "object",
                "properties": {"n": NUMBER},
                "x-kubernetes-validations": [{"rule": "self.n > 5"}, {"rule": "self.n > oldSelf.n", "message": "up"}],
            },
            "note": TEXT,
        },
    }
    checked = StructuralSchema.parse(root(spec))
    assert messages(checked, obj(part={"n": 1}, note="new"), obj(part={"n": 1})) == ["spec.part: Invalid value: up"]


def test_rules_are_not_asked_of_objects_of_the_wrong_shape() -> None:
    checked = ruled({"rule": "self.a > 5"}, a=NUMBER)
    faults = checked.validate(obj(a="x"))
    assert [fault.kind for fault in faults] == [FaultKind.TYPE_INVALID, FaultKind.INVALID]
    assert faults[1].message == (
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation"
    )


def test_the_root_rule_sees_name_and_type() -> None:
    checked = StructuralSchema.parse(
        root(
            {"type": "object", "properties": {"a": NUMBER}},
            **{"x-kubernetes-validations": [{"rule": "self.metadata.name == 'a' && self.kind == 'Thing'"}]},
        )
    )
    assert messages(checked, obj(a=1)) == []


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("self.zoen == 'a'", "undefined field 'zoen'"),
        ("self.a == 'x'", "found no matching overload for '_==_' applied to '(int, string)'"),
        ("self.a", "cel expression must evaluate to a bool"),
        ("self.a ==", "Syntax error"),
        ("unknown(self.a)", "undeclared reference to 'unknown'"),
        ("self.lm.all(e, e.foo > 1)", "undefined field 'foo'"),
        ("self.o.x == 1", "undefined field 'x'"),
    ],
)
def test_a_rule_that_cannot_mean_anything_is_refused_with_the_schema(rule: str, reason: str) -> None:
    with pytest.raises(SchemaError) as refused:
        ruled({"rule": rule}, a=NUMBER, lm=KEYED, o={"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    (fault,) = refused.value.faults
    assert fault.field == "openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"
    assert reason in fault.detail


@pytest.mark.parametrize(
    ("keywords", "field", "detail"),
    [
        ({"messageExpression": "self.a"}, "messageExpression", "messageExpression must evaluate to a string"),
        ({"messageExpression": "self.x"}, "messageExpression", "undefined field 'x'"),
        ({"fieldPath": ".nowhere"}, "fieldPath", "must be a valid path"),
        ({"fieldPath": "a"}, "fieldPath", "must be a valid path"),
        ({"optionalOldSelf": True}, "optionalOldSelf", "may not be set if oldSelf is not used in rule"),
    ],
)
def test_what_goes_with_a_rule_is_judged_too(keywords: dict[str, Any], field: str, detail: str) -> None:
    with pytest.raises(SchemaError) as refused:
        ruled({"rule": "self.a > 1", **keywords}, a=NUMBER)
    (fault,) = refused.value.faults
    assert fault.field == f"openAPIV3Schema.properties[spec].x-kubernetes-validations[0].{field}"
    assert detail in fault.detail


def test_a_rule_that_never_ends_is_stopped() -> None:
    keys = {"type": "array", "maxItems": 1000, "items": NUMBER}
    checked = ruled({"rule": "self.a.all(x, self.a.exists(y, y == x + 1000))"}, a=keys)
    (said,) = messages(checked, obj(a=list(range(1000))))
    assert "holds" not in said
    long = ruled({"rule": "self.a.all(x, self.a.all(y, x >= 0 && y >= 0))"}, a=keys)
    (stopped,) = messages(long, obj(a=list(range(1000))))
    assert "no further validation rules will be run due to call cost exceeds limit" in stopped


def test_a_default_must_satisfy_the_rules() -> None:
    spec = {
        "type": "object",
        "properties": {"a": {**NUMBER, "default": 1, "x-kubernetes-validations": [{"rule": "self > 5"}]}},
    }
    with pytest.raises(SchemaError, match=r"properties\[a\].default: Invalid value: 1: failed rule: self > 5"):
        StructuralSchema.parse(root(spec))
