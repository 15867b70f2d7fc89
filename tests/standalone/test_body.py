"""Bodies in YAML: aliases stand for what they stand for, as long as that is no more than an object may be."""

from __future__ import annotations

import pytest

from standalone.apiserver.alias import WRITTEN_OUT_LIMIT
from standalone.apiserver.body import decode_yaml
from standalone.apiserver.status import ApiError


def bomb(depth: int) -> bytes:
    """Ten times ten times ten …, in a line each."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{each}: &a{each} [{', '.join([f'*a{each - 1}'] * 10)}]" for each in range(1, depth)]
    return "\n".join(lines).encode()


def test_aliases_are_read() -> None:
    assert decode_yaml(b"a: &a {x: 1}\nb: *a\nc: '* & *'\n") == {"a": {"x": 1}, "b": {"x": 1}, "c": "* & *"}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (bomb(12), "written out"),
        (b"a: &a '" + b"x" * (WRITTEN_OUT_LIMIT // 8) + b"'\nb: [" + b"*a, " * 9 + b"]", "written out"),
        (b"a: &a [*a]", "within"),
        (b"a: &a {b: {c: *a}}", "within"),
        (b"a: *b # &", "undefined alias"),
        (b"[" * 100_000 + b"]" * 100_000, "nesting"),
    ],
    ids=["lists", "a long text", "itself", "itself, deeper", "nobody", "depth"],
)
def test_bodies_that_stand_for_too_much_are_refused(content: bytes, why: str) -> None:
    with pytest.raises(ApiError, match=why) as refused:
        decode_yaml(content)
    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("1e3", 1000),
        ("1.5e3", 1500),
        ("1.0", 1),
        ("010", 8),
        ("0x1F", 31),
        ("1.2.3", "1.2.3"),
        ("yes", True),
        ("=", "="),
        ("99999999999999999999", 1e20),
        ("{2: a, 1.5: b, true: c}", {"2": "a", "1.5": "b", "true": "c"}),
    ],
)
def test_yaml_is_read_as_json(text: str, value: object) -> None:
    decoded = decode_yaml(f"v: {text}".encode())["v"]
    assert (decoded, type(decoded)) == (value, type(value))


@pytest.mark.parametrize("text", [".inf", ".nan", "!!binary aGk=", "!!set {a, b}", "{null: a}", "{[a]: b}"])
def test_yaml_that_json_cannot_say_is_refused(text: str) -> None:
    with pytest.raises(ApiError) as refused:
        decode_yaml(f"v: {text}".encode())
    assert refused.value.code == 400
