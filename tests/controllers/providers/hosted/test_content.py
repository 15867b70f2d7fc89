"""What a snapshot holds: free items as they are written, all others as they were last served."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.providers.hosted.content import Fate, choose, needs_base
from controllers.providers.hosted.item import DEFAULT_TTL_S, RecordKey
from tests.controllers.providers.hosted.build import items_of, one
from tests.controllers.providers.hosted.world import item
from zonemodel.name import OwnerName
from zonemodel.record import RecordType

WWW = RecordKey("www", RecordType.A)
OLD = one(item("www", "192.0.2.1")).line
assert OLD is not None


@pytest.mark.parametrize(
    ("written", "served_before", "frozen", "fate", "address"),
    [
        (item("www", "192.0.2.2"), True, False, Fate.SERVED, "192.0.2.2"),
        (item("www", "192.0.2.2"), False, False, Fate.SERVED, "192.0.2.2"),
        (item("www", "192.0.2.2", allowed=False), True, False, Fate.DEFERRED, "192.0.2.1"),
        (item("www", "192.0.2.1", allowed=False), True, False, Fate.SERVED, "192.0.2.1"),
        (item("www", "192.0.2.2", allowed=False), False, False, Fate.DEFERRED, None),
        (item("www", "192.0.2.2"), True, True, Fate.DEFERRED, "192.0.2.1"),
        (item("www", "192.0.2.2"), False, True, Fate.DEFERRED, None),
        (item("www", "256.0.2.2"), True, False, Fate.FAULTY, "192.0.2.1"),
        (item("www", "256.0.2.2"), False, False, Fate.FAULTY, None),
        (item("www", deletionRequested=True), True, False, Fate.LEAVING, None),
        (item("www", deletionRequested=True, allowed=False), True, False, Fate.LEAVING, None),
        (item("www", deletionRequested=True), True, True, Fate.LEAVING, None),
    ],
)
def test_fate_of_one_item(
    written: dict[str, Any], served_before: bool, frozen: bool, fate: Fate, address: str | None
) -> None:
    assert OLD is not None
    content = choose([items_of(written)], {WWW: OLD} if served_before else {}, frozen)
    assert content.fates == ((fate,),)
    line = content.lines.get(WWW)
    body = line.record.a if line is not None else None
    assert (body.addresses[0] if body is not None else None) == address


ALIAS = RecordKey("ns1", RecordType.CNAME)
HOSTS = frozenset({OwnerName("ns1")})


def alias(target: str, **more: Any) -> dict[str, Any]:
    return item("ns1", type="CNAME", cname={"target": target}, **more)


@pytest.mark.parametrize(
    ("written", "fate"),
    [
        (alias("new.test"), Fate.MISPLACED),
        (alias("old.test"), Fate.MISPLACED),
        (alias("new.test", deletionRequested=True), Fate.LEAVING),
        (item("ns1"), Fate.SERVED),
        (item("ns2", type="CNAME", cname={"target": "new.test"}), Fate.SERVED),
    ],
)
def test_alias_does_not_come_where_a_name_server_has_its_addresses(written: dict[str, Any], fate: Fate) -> None:
    content = choose([items_of(written)], {}, False, HOSTS)
    assert content.fates == ((fate,),)
    assert ALIAS not in content.lines


def test_alias_that_was_served_before_a_name_server_came_stays_as_it_was() -> None:
    old = one(alias("old.test")).line
    assert old is not None
    items = items_of(alias("new.test"))
    assert needs_base([items], False, HOSTS)
    content = choose([items], {ALIAS: old}, False, HOSTS)
    assert content.fates == ((Fate.MISPLACED,),)
    assert content.lines == {ALIAS: old}


def test_of_two_items_with_one_identity_the_first_is_served() -> None:
    content = choose([items_of(item("www", claim="a")), items_of(item("www", "192.0.2.9", claim="b"))], {}, False)
    assert content.fates == ((Fate.SERVED,), (Fate.SHADOWED,))
    assert content.lines == {WWW: OLD}


def test_item_that_leaves_makes_room_for_another_of_its_identity() -> None:
    items = items_of(item("www", claim="a", deletionRequested=True), item("www", "192.0.2.9", claim="b"))
    assert choose([items], {}, False).fates == ((Fate.LEAVING, Fate.SERVED),)


def test_record_that_no_item_holds_any_more_leaves_the_snapshot() -> None:
    assert OLD is not None
    assert choose([items_of()], {WWW: OLD}, True).lines == {}


@pytest.mark.parametrize(
    ("written", "frozen", "needed"),
    [
        (item("www"), False, False),
        (item("www"), True, True),
        (item("www", allowed=False), False, True),
        (item("www", "256.1.1.1"), False, True),
        (item("www", allowed=False, deletionRequested=True), False, False),
    ],
)
def test_what_was_served_before_matters_only_where_something_is_held(
    written: dict[str, Any], frozen: bool, needed: bool
) -> None:
    assert needs_base([items_of(written)], frozen) is needed


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (item("www", type="MX"), "mx is missing"),
        (item("www", "1.2.3"), "a: Expected 4 octets in '1.2.3'"),
        (item("w" * 64), "a: "),
        (item(".".join(["w" * 62] * 4)), "octets on the wire"),
        (
            item("www", type="TXT", txt={"values": [f"{n:02}{'x' * 3998}" for n in range(17)]}),
            "txt: takes 68476 octets in a message, allowed are 65253",
        ),
    ],
)
def test_item_without_a_wire_form_says_why(written: dict[str, Any], fault: str) -> None:
    found = one(written)
    assert found.line is None
    assert fault in found.fault


def test_only_the_body_of_the_type_is_served_and_ttl_has_a_default() -> None:
    line = one(item("www", ttl=None, txt={"values": ["x"]})).line
    assert line is not None
    assert line.record.dump() == {"name": "www", "type": "A", "ttl": DEFAULT_TTL_S, "a": {"addresses": ["192.0.2.1"]}}
