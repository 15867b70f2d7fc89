"""String formats: what they take and what they refuse."""

from __future__ import annotations

import pytest

from standalone.schema.format import known_format, string_matches


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", ["2026-11-30T10:00:00Z", "2026-11-30t10:00:00.5+01:00"], ["2026-11-30", "2026-11-30T25:00:00Z"]),
        ("date", ["2024-02-29"], ["2023-02-29", "2024-2-9", "20240229"]),
        ("duration", ["5s", "1h30m", "1.5h", "22 ns", "3 weeks"], ["", "abc", "5"]),
        ("ipv4", ["192.0.2.1", "192.0.2.01"], ["192.0.2", "2001:db8::1", "192.0.2.256"]),
        ("ipv6", ["2001:db8::1", "::"], ["192.0.2.1", "2001:db8:::1", "fe80::1%eth0"]),
        ("cidr", ["192.0.2.0/24", "2001:db8::/32"], ["192.0.2.0", "192.0.2.0/33", "192.0.2.0/-1"]),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"], ["123e4567"]),
        ("uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]),
        ("byte", ["YWI=", "YWJj"], ["YWI", "Y*I="]),
        ("uri", ["https://example.org/x", "/path", "urn:a:b"], ["", "example.org", "a b:c"]),
        ("hostname", ["example.org", "a", "1host.example"], ["-a.example", "a..b", "x" * 64 + ".org"]),
        ("email", ["a@example.org", "A B <a@example.org>"], ["a", "@example.org", "a@"]),
        ("mac", ["00:00:5e:00:53:01", "0000.5e00.5301"], ["00:00:5e:00:53", "00-00:5e-00-53-01"]),
        ("hexcolor", ["#fff", "A0b1C2"], ["#ffff", "#ggg"]),
        ("rgbcolor", ["rgb(0, 128,255)"], ["rgb(0,0)", "rgb(256,0,0)"]),
        ("ssn", ["123-45-6789"], ["12-345-6789"]),
        ("isbn10", ["0321751043", "0-321-75104-3"], ["0321751044"]),
        ("isbn13", ["978-0321751041"], ["978-0321751042"]),
        ("isbn", ["0321751043", "9780321751041"], ["1"]),
        ("creditcard", ["4111 1111 1111 1111"], ["4111 1111 1111 1112"]),
        ("bsonobjectid", ["507f1f77bcf86cd799439011"], ["507f1f77"]),
        ("k8s-short-name", ["a-1"], ["A", "-a", "a" * 64]),
        ("k8s-long-name", ["a.b-1.c"], ["a..b", "a" * 254]),
        ("password", ["anything"], []),
    ],
)
def test_a_format_takes_and_refuses(name: str, good: list[str], bad: list[str]) -> None:
    assert [text for text in good if not string_matches(name, text)] == []
    assert [text for text in bad if string_matches(name, text)] == []


@pytest.mark.parametrize(
    ("name", "types", "kept"),
    [
        ("date-time", ("string",), "date-time"),
        ("made-up", ("string",), ""),
        ("int32", ("integer",), "int32"),
        ("int32", ("string",), ""),
        ("double", ("number",), "double"),
        ("date", ("object",), ""),
    ],
)
def test_formats_unknown_for_a_type_are_ignored(name: str, types: tuple[str, ...], kept: str) -> None:
    assert known_format(name, types) == kept
