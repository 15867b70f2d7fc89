"""Replies that hold much of other names, or more than any message: they take no more time and space than others, and say what fits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import dns.flags
import dns.message
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.answer.compose import compose
from server.answer.matcher import Matcher
from server.catalog import Catalog
from server.config import ZoneFile
from server.listening.connection import Connection
from server.plane.choice import has_native
from server.rdtype import ANY
from server.transport import Later, Transport
from server.zone.compile import Zone, compile_zone
from server.zone.encode import Encoder, encode_reply
from server.zone.index import Changes, ZoneIndex
from server.zone.judge import judge_zone
from server.zone.lookup import resolve
from server.zone.recompile import recompile
from server.zone.table import COMPUTED, Cover, Node
from tests.server.beside import Beside, beside, config
from tests.server.question import framed, read_framed
from tests.server.zone_strategy import AAAA, APEX, APEX_LABELS, CNAME, MX, NS, TXT, A, apex_ns, soa
from zonemodel.name import WireName, from_labels
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import write_zone_file

Compiler = Callable[[ZoneData], Zone]

CUT = from_labels([b"cut", *APEX_LABELS])
LONGEST = 65535


def addresses(owner: WireName, count: int) -> RRset:
    return RRset(owner, A, 60, tuple(number.to_bytes(4, "big") for number in range(count)))


def below_apex(*labels: bytes) -> WireName:
    return from_labels([*labels, *APEX_LABELS])


BIG = below_apex(b"big")
ALIASES = tuple(below_apex(b"alias%d" % number) for number in range(200))
CUTS = tuple(below_apex(b"cut%d" % number) for number in range(200))


def shared(count: int, *more: RRset) -> ZoneData:
    """A zone of many aliases of one name, and of many delegations to it, which has so many addresses."""
    aliases = (RRset(owner, CNAME, 60, (BIG,)) for owner in ALIASES)
    cuts = (RRset(owner, NS, 60, (BIG,)) for owner in CUTS)
    return ZoneData(APEX, (soa(1), apex_ns(), addresses(BIG, count), *more, *aliases, *cuts))


def natively(data: ZoneData) -> Zone:
    """Return the zone as native code finishes it, with nothing but its apex left to Python."""
    from server.plane.bulk import bulk_of, collect_bulk

    records = [(each.owner, each.rdtype, each.ttl_s, rdata) for each in data.rrsets for rdata in each.rdatas]
    zone = collect_bulk(APEX, records) or pytest.fail("it is left to Python")
    bulk = bulk_of(zone.table.nodes) or pytest.fail("it rests on no native zone")
    assert {owner for owner, *_ in bulk.others()} == {APEX}
    return zone


def in_python(data: ZoneData) -> Zone:
    return compile_zone(judge_zone(data))


NATIVE = pytest.param(natively, marks=pytest.mark.skipif(not has_native(), reason="the native data plane is not built"))
COMPILERS = pytest.mark.parametrize("compiled", [in_python, NATIVE])


def octets_of(zone: Zone) -> int:
    """Return what the finished answers of a zone take."""
    nodes = zone.table.nodes.values()
    answers = (*zone.table.answers.values(), *(each for node in nodes for each in (node.other, node.below.other)))
    return sum(len(answer.body) for answer in answers)


def same(zone: Zone, expected: Zone) -> None:
    answers = dict(zone.table.answers)
    assert answers == dict(expected.table.answers)
    assert dict(zone.table.nodes) == dict(expected.table.nodes)
    assert all(answer is COMPUTED for answer in answers.values() if answer == COMPUTED)


def zone_data(servers: tuple[WireName, ...], sets: tuple[RRset, ...]) -> ZoneData:
    return ZoneData(APEX, (soa(1), apex_ns(), RRset(CUT, NS, 60, servers), *sets))


def referral(zone: Zone, limit: int) -> dns.message.Message:
    """Return what a client of a name below the cut gets within so many octets."""
    name = from_labels([b"www", b"cut", *APEX_LABELS])
    question = name + bytes((0, 1, 0, 1))
    assert zone.table.nodes[CUT].below.other is COMPUTED
    answer = encode_reply(resolve(zone.index, name, A), name, name, exact=True)
    room = limit - 12 - len(question)
    body, heads = answer.body_for(len(name)), answer.heads
    if len(body) > room:
        trim = next((trim for trim in answer.trims if trim.size <= room), None)
        if trim is None:
            return dns.message.from_wire(b"\0\1" + b"\x82\0\0\1\0\0\0\0\0\0" + question)
        body, heads = body[: trim.size], trim.heads
    return dns.message.from_wire(b"\0\1" + heads[0] + question + body)


def test_a_wildcard_gives_glue_to_many_servers() -> None:
    wild = addresses(from_labels([b"*", *APEX_LABELS]), 300)
    servers = tuple(sorted(from_labels([b"ns%d" % number, *APEX_LABELS]) for number in range(300)))
    zone = compile_zone(judge_zone(zone_data(servers, (wild,))))
    found = referral(zone, LONGEST)
    assert not found.flags & dns.flags.TC
    assert len(found.authority[0]) == len(servers)
    assert all(len(rrset) == len(wild.rdatas) for rrset in found.additional)


def test_an_edit_makes_glue_too_long() -> None:
    servers = tuple(sorted(from_labels([b"ns%d" % number, *APEX_LABELS]) for number in range(300)))
    zone = compile_zone(judge_zone(zone_data(servers, ())))
    wild = addresses(from_labels([b"*", *APEX_LABELS]), 300)
    changes = Changes((wild,))
    index = zone.index.with_changes(changes)
    later = recompile(zone, index, changes)
    assert later.table.nodes == compile_zone(index).table.nodes
    assert later.table.nodes[CUT] == Node(COMPUTED, Cover(b"", COMPUTED))


def test_required_glue_that_no_message_holds_is_never_left_out_silently() -> None:
    sets = tuple(addresses(from_labels([b"ns%d" % number, b"cut", *APEX_LABELS]), 4000) for number in range(17))
    zone = compile_zone(judge_zone(zone_data(tuple(each.owner for each in sets), sets)))
    assert referral(zone, LONGEST).flags & dns.flags.TC


def test_any_has_more_records_than_can_be_counted() -> None:
    owner = from_labels([b"many", *APEX_LABELS])
    data = tuple(number.to_bytes(2, "big") for number in range(4600))
    sets = (RRset(owner, rdtype, 60, data) for rdtype in range(65280, 65300))
    index = judge_zone(ZoneData(APEX, (soa(1), apex_ns(), *sets)))
    for most in (512, 1232, LONGEST):
        answer = encode_reply(resolve(index, owner, ANY), owner, owner, exact=True, most_octets=most)
        assert most < len(answer.body) < most + 20


@pytest.mark.parametrize("above", [APEX, CUT], ids=["optional", "required"])
@pytest.mark.parametrize("addressed", [1, 2000])
def test_no_more_addresses_are_looked_up_than_a_message_may_hold(above: WireName, addressed: int) -> None:
    servers = tuple(WireName(b"\x05%05d" % number + above) for number in range(2000))
    sets = tuple(addresses(owner, 2) for owner in servers[-addressed:])
    index = Counted(judge_zone(zone_data(servers, sets)))
    for most in (512, 1232):
        resolve(index, CUT, A, None, most)  # type: ignore[arg-type]  # it has all that is asked of it
    assert index.looked_up < 10


class Counted:
    """A zone's content that counts the names that are looked for in it."""

    def __init__(self, index: ZoneIndex) -> None:
        self._index = index
        self.looked_up = 0

    def exists(self, name: WireName) -> bool:
        self.looked_up += 1
        return self._index.exists(name)

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)


def test_referrals_and_aliases_are_finished_up_to_a_bound() -> None:
    zone = compile_zone(judge_zone(shared(256)))
    assert not {zone.table.answers[owner + bytes((0, A))] for owner in ALIASES} & {COMPUTED}
    longer = compile_zone(judge_zone(shared(257)))
    assert {longer.table.answers[owner + bytes((0, A))] for owner in ALIASES} == {COMPUTED}
    assert {longer.table.nodes[owner].other for owner in CUTS} == {COMPUTED}


@COMPILERS
def test_a_set_is_not_stored_for_each_name_that_draws_on_it(compiled: Compiler) -> None:
    few, many = compiled(shared(1)), compiled(shared(4000))
    longest = 16 * 4000
    assert longest < octets_of(many) < octets_of(few) + longest


@COMPILERS
def test_many_types_of_one_name_are_not_stored_for_each_alias_of_it(compiled: Compiler) -> None:
    sets = [RRset(BIG, TXT, 60, tuple(b"\xf0" + bytes((number,)) * 240 for number in range(8)))]
    sets += [RRset(BIG, rdtype, 60, (bytes(rdtype * 10),)) for rdtype in (13, 29, 33, 44, 52, 64, 65)]
    zone = compiled(shared(3, *sets))
    for owner in ALIASES:
        finished = {key: each for key, each in zone.table.answers.items() if key[:-2] == owner and each is not COMPUTED}
        assert owner + bytes((0, A)) in finished
        assert 2048 < sum(len(each.body) for each in finished.values()) < 4096 + len(finished) * 30


@COMPILERS
@pytest.mark.parametrize("counts", [(256, 257, 4000, 256), (4000, 1), (1, 4000, 4000)])
def test_an_edit_of_a_set_reaches_all_that_draw_on_it(compiled: Compiler, counts: tuple[int, ...]) -> None:
    zone = compiled(shared(counts[0]))
    for count in counts[1:]:
        changes = Changes((addresses(BIG, count),))
        zone = recompile(zone, zone.index.with_changes(changes), changes)
        same(zone, in_python(shared(count)))


def chains(draw: Callable[..., int]) -> Iterator[RRset]:
    """Sets whose sizes lie around the bound, alone and together, and names that draw on some of them in every way."""
    for number in range(3):
        owner, deep = below_apex(b"host%d" % number), below_apex(b"ns", b"cut%d" % number)
        yield addresses(owner, draw(st.sampled_from([1, 100, 254, 255, 256, 257])))
        yield RRset(owner, AAAA, 60, tuple(bytes(15) + bytes((last,)) for last in range(draw(st.integers(1, 150)))))
        texts = draw(st.sampled_from([1, 1000, 4083, 4084, 4085]))
        yield RRset(owner, TXT, 60, (bytes(texts),))
        mail = draw(st.integers(1, 130))
        yield RRset(owner, MX, 60, tuple(bytes((0, each)) + below_apex(b"mail%d" % each) for each in range(mail)))
        yield addresses(deep, draw(st.sampled_from([1, 255, 256, 257])))
        ends = [below_apex(b"host%d" % draw(st.integers(0, 2))), below_apex(b"alias%d" % draw(st.integers(0, 2)))]
        yield RRset(below_apex(b"alias%d" % number), CNAME, 60, (ends[draw(st.integers(0, 1))],))
        servers = {deep, *(below_apex(b"host%d" % draw(st.integers(0, 2))) for _ in range(2))}
        yield RRset(below_apex(b"cut%d" % number), NS, 60, tuple(sorted(servers)))


KINDS = (((), b"host"), ((), b"alias"), ((), b"cut"), ((b"ns",), b"cut"), ((b"x",), b"cut"))
"""The names that stand there, and some below: by their first labels."""


@st.composite
def drawing(draw: st.DrawFn) -> ZoneData:
    return ZoneData(APEX, (soa(1), apex_ns(), *chains(draw)))


@pytest.mark.skipif(not has_native(), reason="the native data plane is not built")
@settings(deadline=None)
@given(drawing())
def test_native_code_draws_the_line_where_python_does(data: ZoneData) -> None:
    from server.plane.bulk import collect_bulk

    records = [(each.owner, each.rdtype, each.ttl_s, rdata) for each in data.rrsets for rdata in each.rdatas]
    zone = collect_bulk(APEX, records) or pytest.fail("it is left to Python")
    same(zone, in_python(data))


@settings(deadline=None)
@given(drawing(), st.integers(512, 8192))
def test_a_reply_made_for_a_limit_is_the_whole_one_cut_short(data: ZoneData, limit: int) -> None:
    index = judge_zone(data)
    soa = in_python(data).table.soa
    owners = [below_apex(*above, b"%s%d" % (label, number)) for above, label in KINDS for number in range(3)]
    for owner, qtype in product((*owners, APEX), (A, NS, ANY)):
        packet = bytes(12) + owner + bytes((0, qtype, 0, 1))
        replies = {
            compose(
                packet,
                len(packet),
                encode_reply(resolve(index, owner, qtype, None, most), owner, owner, exact=True, most_octets=most),
                soa,
                0,
                b"",
                limit,
            )
            for most in (LONGEST, limit)
        }
        assert len(replies) == 1


def master_file(folder: Path, count: int) -> ZoneFile:
    path = folder / "zone"
    path.write_text(write_zone_file(shared(count)))
    return ZoneFile(path)


def test_a_client_of_any_alias_gets_the_whole_set_and_the_next_one(tmp_path: Path) -> None:
    with beside(config(zone_files=(master_file(tmp_path, 4000),))) as server:
        hold_over_the_wire(server, 4000)
        for count in (4001, 2, 4000):
            catalog, changes = server.server.catalog, Changes((addresses(BIG, count),))
            zone = catalog.zones[APEX]
            later = recompile(zone, zone.index.with_changes(changes), changes)
            server.read(partial(catalog.replace, later))
            hold_over_the_wire(server, count)
        master_file(tmp_path, 3000)
        server.reload()
        hold_over_the_wire(server, 3000)


def hold_over_the_wire(server: Beside, count: int) -> None:
    for name in ("alias0.z.test.", "Alias199.Z.test."):
        whole = server.target.ask(name, "A", tcp=True)
        assert len(whole.answer[0]) == 1
        assert len(whole.answer[1]) == count
        for short in (server.target.ask(name, "A"), server.target.ask(name, "A", use_edns=0, payload=65535)):
            assert bool(short.flags & dns.flags.TC) is (count > 70)
            assert len(short.answer) == (0 if count > 70 else 2)
    for name in ("cut0.z.test.", "x.cut199.z.test."):
        whole = server.target.ask(name, "A", tcp=True)
        assert len(whole.additional[0]) == count
        short = server.target.ask(name, "A")
        assert short.authority == whole.authority
        assert len(short.additional) == (0 if count > 30 else 1)
        assert not short.flags & dns.flags.TC


def fall_silent(connection: Connection) -> None:
    """As if the client had asked nothing for long."""
    connection.last_progress_s -= 1000
    connection._watch_idle()


def test_a_long_answer_is_made_beside_the_event_loop(tmp_path: Path) -> None:
    """Quick answers overtake it, on its own connection too; it is counted, and is what the whole one is at once."""
    path = tmp_path / "zone"
    servers = tuple(below_apex(b"ns%d" % number, b"cut") for number in range(1000))
    path.write_text(write_zone_file(zone_data(servers, tuple(addresses(server, 1) for server in servers))))
    with beside(config(zone_files=(ZoneFile(path),))) as server, server.target.connect() as client:
        go_on, service = threading.Event(), server.server.listeners._service
        service.workshop.submit(go_on.wait, 20)
        long, quick = (
            dns.message.make_query(name, "A", id=id_) for id_, name in enumerate(("x.cut.z.test.", "z.test."))
        )
        client.sendall(framed(long.to_wire()) + framed(quick.to_wire()))
        assert dns.message.from_wire(read_framed(client)).id == quick.id
        counted = server.read(lambda: sum(server.server.counters.tcp))
        (connection,) = server.read(lambda: list(server.server.listeners.connections))
        server.read(partial(fall_silent, connection))
        go_on.set()
        reply = dns.message.from_wire(read_framed(client))
        assert (reply.id, len(reply.authority[0]), len(reply.additional)) == (long.id, 1000, 1000)
        assert server.read(lambda: sum(server.server.counters.tcp)) == counted + 1


def test_no_more_than_some_records_of_a_long_answer_are_made_on_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog()
    servers = tuple(below_apex(b"ns%d" % number, b"cut") for number in range(2000))
    catalog.replace(in_python(zone_data(servers, tuple(addresses(server, 1) for server in servers))))
    packet = dns.message.make_query("x.cut.z.test.", "A").to_wire()
    encoded: list[int] = []
    whole = Encoder.add

    def add(self: Encoder, rrset: RRset, asked: bytes) -> int:
        encoded.append(whole(self, rrset, asked))
        return encoded[-1]

    monkeypatch.setattr(Encoder, "add", add)
    for transport in (Transport.TCP, Transport.TLS):
        encoded.clear()
        reply = Matcher(catalog).answer(packet, "192.0.2.1", transport)
        assert isinstance(reply, Later)
        assert sum(encoded) < 400
    encoded.clear()
    assert isinstance(Matcher(catalog).answer(packet, "192.0.2.1", Transport.UDP), bytes)
    assert sum(encoded) < 100
