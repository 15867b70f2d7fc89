"""Which owner answers for a name: itself, the wildcard at the closest encloser, or nobody (RFC 4592 section 2.2.1 and 3.3.1)."""

from __future__ import annotations

import pytest

from zonemodel.name_tree import NameTree

RFC_4592 = NameTree.of(["@", "*", "sub.*", "host1", "_ssh._tcp.host1", "_ssh._tcp.host2", "subdel"])


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("@", "@"),
        ("host1", "host1"),
        ("host3", "*"),
        ("foo.bar", "*"),
        ("*", "*"),
        ("_tcp.host1", "_tcp.host1"),
        ("host2", "host2"),
        ("_telnet._tcp.host1", None),
        ("ghost.*", None),
        ("sub.*", "sub.*"),
        ("host.subdel", None),
    ],
)
def test_the_examples_of_the_rfc(name: str, source: str | None) -> None:
    assert RFC_4592.source(name) == source


def test_a_zone_without_a_wildcard_makes_up_no_names() -> None:
    tree = NameTree.of(["@", "www", "a.b"])
    assert [tree.source(each) for each in ("mail", "x.www", "b", "c.b")] == [None, None, "b", None]
