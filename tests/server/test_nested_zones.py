"""A zone within another one, both served here: aliases of the outer one do not tell what only the inner one can."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from server.zone.compile import compile_zone
from server.zone.index import Changes
from server.zone.judge import judge_zone
from server.zone.recompile import recompile
from tests.server.beside import Beside, beside, config
from zonemodel.name import to_wire
from zonemodel.rrset import RRset
from zonemodel.zonefile import parse_zone_text

OUTER = """$ORIGIN outer.test.
$TTL 300
@ SOA ns.example. h.example. 1 2 3 4 60
@ NS ns.example.
in CNAME www.inner
twice CNAME in
gone CNAME nobody.inner
*.wild CNAME www.inner
old DNAME inner
apex CNAME inner
own CNAME @
www.inner A 192.0.2.1
here CNAME there
there A 192.0.2.3
"""
INNER = """$ORIGIN inner.outer.test.
$TTL 300
@ SOA ns.example. h.example. 1 2 3 4 60
@ NS ns.example.
@ TXT "inner"
www A 192.0.2.2
"""
INTO = [
    "in.outer.test.",
    "twice.outer.test.",
    "gone.outer.test.",
    "x.wild.outer.test.",
    "www.old.outer.test.",
    "apex.outer.test.",
]


def serve(server: Beside, text: str) -> None:
    zone = compile_zone(judge_zone(parse_zone_text(text, None, "zone")))
    server.read(lambda: server.server.catalog.replace(zone))


@pytest.fixture
def server() -> Iterator[Beside]:
    with beside(config(zone_files=())) as found:
        yield found


def told(server: Beside, name: str, rdtype: str = "A") -> list[str]:
    """What is said over UDP, where native code answers, and over TCP, which must be the same: RCODE, then the data of the answer."""
    replies = [server.target.ask(name, rdtype, tcp=tcp) for tcp in (False, True)]
    found = [[str(each.rcode()), *(str(rrset[0]) for rrset in each.answer)] for each in replies]
    assert found[0] == found[1]
    return found[0]


def hold_apart(server: Beside) -> None:
    assert told(server, "in.outer.test.") == ["0", "www.inner.outer.test."]
    assert not server.target.ask("in.outer.test.", "A").authority
    assert told(server, "in.outer.test.", "MX") == ["0", "www.inner.outer.test."]
    assert told(server, "twice.outer.test.") == ["0", "in.outer.test.", "www.inner.outer.test."]
    assert told(server, "gone.outer.test.") == ["0", "nobody.inner.outer.test."]
    assert told(server, "x.wild.outer.test.") == ["0", "www.inner.outer.test."]
    assert told(server, "x.wild.outer.test.", "TXT") == ["0", "www.inner.outer.test."]
    assert told(server, "www.old.outer.test.") == ["0", "inner.outer.test.", "www.inner.outer.test."]
    assert told(server, "apex.outer.test.", "TXT") == ["0", "inner.outer.test."]
    assert told(server, "in.outer.test.", "CNAME") == ["0", "www.inner.outer.test."]
    assert told(server, "www.inner.outer.test.") == ["0", "192.0.2.2"]
    assert told(server, "here.outer.test.") == ["0", "there.outer.test.", "192.0.2.3"]


@pytest.mark.parametrize("order", [(OUTER, INNER), (INNER, OUTER)], ids=["outer first", "inner first"])
def test_aliases_end_where_another_zone_begins(server: Beside, order: tuple[str, str]) -> None:
    for text in order:
        serve(server, text)
    hold_apart(server)


def test_they_go_on_once_there_is_no_inner_zone(server: Beside) -> None:
    serve(server, OUTER)
    before = {name: told_in_full(server, name) for name in INTO}
    assert before["in.outer.test."] == (0, ["www.inner.outer.test.", "192.0.2.1"])
    assert before["gone.outer.test."] == (3, ["nobody.inner.outer.test."])
    serve(server, INNER)
    hold_apart(server)
    server.read(lambda: server.server.catalog.remove(to_wire("inner.outer.test")))
    assert {name: told_in_full(server, name) for name in INTO} == before


def told_in_full(server: Beside, name: str) -> tuple[int, list[str]]:
    reply = server.target.ask(name, "A")
    return int(reply.rcode()), [str(rrset[0]) for rrset in reply.answer]


def test_an_edit_of_the_outer_zone_changes_nothing_about_it(server: Beside) -> None:
    first = compile_zone(judge_zone(parse_zone_text(OUTER, None, "zone")))
    server.read(lambda: server.server.catalog.replace(first))
    serve(server, INNER)
    more = RRset(to_wire("more.outer.test"), 5, 300, (to_wire("www.inner.outer.test"),))
    shadowed = RRset(to_wire("www.inner.outer.test"), 1, 300, (b"\xc0\x00\x02\x09",))
    changes = Changes((more, shadowed))
    later = recompile(first, first.index.with_changes(changes), changes)
    server.read(lambda: server.server.catalog.replace(later))
    hold_apart(server)
    assert told(server, "more.outer.test.") == ["0", "www.inner.outer.test."]


def test_a_withheld_zone_is_another_zone_too(server: Beside) -> None:
    serve(server, OUTER)
    server.read(lambda: server.server.catalog.withhold(to_wire("inner.outer.test")))
    assert told(server, "in.outer.test.") == ["0", "www.inner.outer.test."]
    assert told(server, "www.inner.outer.test.") == ["2"]


def test_ds_at_the_inner_apex_is_the_outer_zones(server: Beside) -> None:
    serve(server, OUTER.replace("www.inner A 192.0.2.1", "inner NS ns.example.\ninner DS 1 13 2 " + "ab" * 32))
    serve(server, INNER)
    own = server.target.ask("own.outer.test.", "DS")
    assert [str(rrset.name) for rrset in (*own.answer, *own.authority)] == ["own.outer.test.", "outer.test."]
    found = told(server, "apex.outer.test.", "DS")
    assert (found[:2], len(found)) == (["0", "inner.outer.test."], 3)
