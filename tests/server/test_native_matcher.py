"""The native matcher answers what the Python one answers, octet for octet, and leaves the rest to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.answer.matcher import Matcher
from server.answer.policy import AnswerPolicy
from server.catalog import Catalog
from server.edns.cookie import Cookies
from server.edns.reply import OptionReplies
from server.plane.choice import has_native
from server.transport import Later, Reply, Transport
from server.zone.compile import Zone, compile_zone
from server.zone.index import Changes, ZoneIndex
from server.zone.recompile import recompile
from tests.server import zone_strategy
from tests.server.conftest import ZONES
from tests.server.test_fuzz import queries
from zonemodel.name import WireName, from_labels
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import read_zone_file

if not has_native():
    pytest.skip("the native data plane is not built", allow_module_level=True)

from server._native import Limiter, Packer
from server.plane.catalog import NativeCatalog, NativeFaultError
from server.plane.matcher import NativeMatcher

NATIVE = Path(__file__).parents[2] / "server/native/src"
CLIENT = "192.0.2.1"
PAYLOAD_BYTES = 1232
QTYPES = (1, 2, 5, 6, 12, 15, 16, 28, 39, 43, 46, 255, 65280)
OPTS = (
    b"",
    b"\0\0\x29\x04\xd0\0\0\0\0\0\0",
    b"\0\0\x29\x02\x00\0\0\x80\0\0\0",
    b"\0\0\x29\x00\x00\0\0\0\0\0\0",
    b"\0\0\x29\xff\xff\0\0\x80\0\0\0",
    b"\0\0\x29\x04\xd0\0\0\0\0\0\x0c\0\x0a\0\x08cookie!!",
)
PLAIN_OPTIONS = (
    b"\0\x0a\0\x08cookie!!",
    b"\0\x0a\0\x10cookie!!another!",
    b"\0\x0a\0\x18cookie!!another!!another",
    b"\0\x08\0\x04\0\1\0\0",
    b"\xff\x01\0\0",
    b"\0\x0a\0\x08cookie!!\0\x0a\0\x01x",
)
ODD_OPTIONS = (b"\0\x0a\0\x07cookie!", b"\0\x0a\0\x08cook", b"\0\x0a", b"\0\x03\0\0")


class Both:
    """The same zones behind both matchers."""

    def __init__(self, payload_bytes: int = PAYLOAD_BYTES) -> None:
        self.cookies = Cookies()
        policy = AnswerPolicy(payload_bytes, OptionReplies(self.cookies))
        self.python, self.native = Catalog(), NativeCatalog(payload_bytes, 1)
        self._matchers = Matcher(self.python, policy), NativeMatcher(self.native, policy)
        self.answered = 0

    def replace(self, zone: Zone) -> None:
        self.python.replace(zone)
        self.native.replace(zone)

    def complete(self) -> None:
        self.python.complete = self.native.complete = True

    def hold(self, packet: bytes) -> None:
        """Assert that both answer alike over both transports."""
        for transport in (Transport.UDP, Transport.TCP):
            native, found, expected = self._answers(packet, transport)
            if not (
                found == expected and native in {None, expected}
            ):  # a second may have begun, which shows in cookies
                native, found, expected = self._answers(packet, transport)
            self.answered += native is not None
            assert native in {None, expected}, packet.hex()
            assert found == expected

    def _answers(self, packet: bytes, transport: Transport) -> tuple[Reply, Reply, Reply]:
        native = self.native.native.answer(packet, CLIENT, transport is Transport.TCP)
        replies = (each.answer(packet, CLIENT, transport) for each in self._matchers)
        python, combined = (reply.make() if isinstance(reply, Later) else reply for reply in replies)
        return native, combined, python


def question(name: bytes, qtype: int, opt: bytes = b"", flags: bytes = b"\x01\x00") -> bytes:
    counts = b"\0\1\0\0\0\0\0" + bytes((1 if opt else 0,))
    return b"\xab\xcd" + flags + counts + name + qtype.to_bytes(2, "big") + b"\0\1" + opt


def suite_zones() -> list[Zone]:
    return [compile_zone(ZoneIndex.of(read_zone_file(path, None))) for path in sorted(Path(ZONES).glob("*.zone"))]


@pytest.fixture(scope="module")
def suite() -> Both:
    both = Both()
    for zone in suite_zones():
        both.replace(zone)
    both.complete()
    return both


def test_every_name_and_type_of_the_suite_zones(suite: Both) -> None:
    before = suite.answered
    asked = 0
    for zone in suite_zones():
        names = {*zone.index.children, *(b"\x01q" + name for name in zone.index.children)}
        names |= {b"\x01x\x02Yz" + name for name in zone.index.children}
        for name in names:
            if len(name) > 255:
                continue
            types = {*zone.index.at(WireName(name)), *QTYPES}
            for number, qtype in enumerate(sorted(types)):
                suite.hold(
                    question(name.upper() if number % 2 else name, qtype, OPTS[(number + len(name)) % len(OPTS)])
                )
                asked += 2
    assert suite.answered - before > asked // 2


@settings(max_examples=400, deadline=None)
@given(packet=st.one_of(queries(), st.binary(max_size=600)))
def test_any_packet(suite: Both, packet: bytes) -> None:
    suite.hold(packet)


@pytest.mark.slow
@pytest.mark.endurance
@settings(max_examples=100_000, deadline=None)
@given(packet=st.one_of(queries(), st.binary(max_size=600)))
@pytest.mark.timeout(1200)
def test_fuzz_any_packet(suite: Both, packet: bytes) -> None:
    suite.hold(packet)


@settings(deadline=None)
@given(zone_strategy.zones, st.sampled_from(OPTS), st.booleans(), st.sampled_from([60, 200, 512, 1232, 65535]))
def test_random_zones(zone: ZoneData, opt: bytes, complete: bool, payload_bytes: int) -> None:
    both = Both(payload_bytes)
    both.replace(compile_zone(ZoneIndex.of(zone)))
    if complete:
        both.complete()
    for name in (*zone_strategy.names_around(zone), zone_strategy.OUTSIDE, b"\0"):
        for qtype in zone_strategy.TYPES:
            both.hold(question(name, qtype, opt))


@settings(deadline=None)
@given(zone_strategy.zones, st.lists(zone_strategy.rrsets(), min_size=1, max_size=6))
def test_edits_are_taken_over(zone: ZoneData, edits: list[RRset]) -> None:
    both = Both()
    both.complete()
    served = compile_zone(ZoneIndex.of(zone))
    both.replace(served)
    for edit in edits:
        later = zone_strategy.edited(zone, edit)
        if later is None:
            continue
        changes = zone_strategy.changes_between(zone, later)
        served, zone = recompile(served, served.index.with_changes(changes), changes), later
        both.replace(served)
    for name in zone_strategy.names_around(zone):
        for qtype in zone_strategy.TYPES:
            both.hold(question(name, qtype))


def with_options(options: bytes) -> bytes:
    return OPTS[1][:-2] + len(options).to_bytes(2, "big") + options


@pytest.mark.parametrize("options", PLAIN_OPTIONS)
@pytest.mark.parametrize("name", [zone_strategy.APEX, zone_strategy.OUTSIDE])
def test_cookies_and_unknown_options_are_answered_natively(suite: Both, options: bytes, name: bytes) -> None:
    packet = question(name, 6, with_options(options))
    suite.hold(packet)
    assert suite.native.native.answer(packet, CLIENT, False) is not None


@pytest.mark.parametrize("options", ODD_OPTIONS)
def test_broken_options_and_those_that_want_more_are_left_to_python(suite: Both, options: bytes) -> None:
    packet = question(zone_strategy.APEX, 6, with_options(options))
    suite.hold(packet)
    assert suite.native.native.answer(packet, CLIENT, False) is None


def test_a_cookie_that_came_back_is_kept_and_secrets_are_followed() -> None:
    both = Both()
    client = b"\0\x0a\0\x08cookie!!"
    first = both.native.native.answer(question(zone_strategy.OUTSIDE, 1, with_options(client)), CLIENT, False)
    assert first is not None
    at = first.index(b"\0\x0a\0\x18cookie!!")
    both.hold(question(zone_strategy.OUTSIDE, 1, with_options(first[at : at + 28])))
    both.cookies.replace([bytes(16), bytes(range(16))])
    both.hold(question(zone_strategy.OUTSIDE, 1, with_options(first[at : at + 28])))
    both.hold(question(zone_strategy.OUTSIDE, 1, with_options(client)))
    assert both.answered == 6


def test_an_edit_of_another_version_than_the_served_one_is_loaded_whole() -> None:
    both = Both()
    first = compile_zone(ZoneIndex.of(ZoneData(zone_strategy.APEX, (zone_strategy.soa(1), zone_strategy.apex_ns()))))
    owner = from_labels([b"www", *zone_strategy.APEX_LABELS])
    added = Changes((RRset(owner, 1, 60, (b"\x0a\0\0\1",)),))
    second = recompile(first, first.index.with_changes(added), added)
    both.replace(second)
    both.hold(question(owner, 1))
    assert both.native.native.answer(question(owner, 1), CLIENT, False) is not None


def test_zones_are_withheld_and_removed() -> None:
    both = Both()
    both.complete()
    zone = compile_zone(ZoneIndex.of(ZoneData(zone_strategy.APEX, (zone_strategy.soa(1), zone_strategy.apex_ns()))))
    packet = question(zone_strategy.APEX, 6, OPTS[1])
    for catalog in (both.python, both.native):
        catalog.withhold(zone_strategy.APEX)
    both.hold(packet)
    both.replace(zone)
    both.hold(packet)
    for catalog in (both.python, both.native):
        catalog.remove(zone_strategy.APEX)
    both.hold(packet)
    assert both.answered == 6


def test_questions_are_counted_as_in_python() -> None:
    both = Both()
    both.complete()
    both.replace(
        compile_zone(ZoneIndex.of(ZoneData(zone_strategy.APEX, (zone_strategy.soa(1), zone_strategy.apex_ns()))))
    )
    for name in (zone_strategy.APEX, zone_strategy.OUTSIDE):
        for qtype in (1, 6, 65280):
            packet = question(name, qtype)
            Matcher(both.python).answer(packet, CLIENT)
            NativeMatcher(both.native).answer(packet, CLIENT)
    both.native.tally()
    assert both.native.asked_elsewhere == both.python.asked_elsewhere
    assert both.native.tables[zone_strategy.APEX].asked == both.python.tables[zone_strategy.APEX].asked


def computed_zone() -> Zone:
    """A zone of answers that are worked out when they are asked for: they draw much on other names, or depend on the question."""

    def name(*labels: bytes) -> WireName:
        return from_labels([*labels, *zone_strategy.APEX_LABELS])

    def hosts(owner: WireName, count: int) -> RRset:
        return RRset(owner, zone_strategy.A, 60, tuple(number.to_bytes(4, "big") for number in range(count)))

    servers = tuple(name(b"ns%d" % number, b"cut") for number in range(300))
    sets = (
        zone_strategy.soa(1),
        zone_strategy.apex_ns(),
        hosts(name(b"big"), 400),
        *(RRset(name(label), zone_strategy.CNAME, 60, (name(b"big"),)) for label in (b"alias", b"*")),
        RRset(name(b"*", b"w"), zone_strategy.CNAME, 60, (name(b"x", b"w"),)),
        RRset(name(b"old"), zone_strategy.DNAME, 60, (name(b"new"),)),
        hosts(name(b"www", b"new"), 1),
        RRset(name(b"cut"), zone_strategy.NS, 60, servers),
        *(hosts(server, 1) for server in servers),
    )
    return compile_zone(ZoneIndex.of(ZoneData(zone_strategy.APEX, sets)))


@pytest.mark.parametrize(
    "owner", [b"alias", b"any", b"x.w", b"y.w", b"www.old", b"no.old", b"x.cut", b"cut", b"ns7.cut"]
)
def test_answers_that_are_worked_out_are_the_same_with_every_option(owner: bytes) -> None:
    both = Both()
    both.replace(computed_zone())
    both.complete()
    options = (b"", *PLAIN_OPTIONS, *ODD_OPTIONS)
    opts = (*OPTS, *(OPTS[1][:-2] + len(option).to_bytes(2, "big") + option for option in options))
    for spelled in (owner, owner.upper()):
        for opt in opts:
            both.hold(question(from_labels([*spelled.split(b"."), *zone_strategy.APEX_LABELS]), zone_strategy.A, opt))
    assert both.answered == 0


class Panicking:
    """Stands for an answer; native code that reads it panics: this is how an exception for a panic comes back to it."""

    def __init__(self, panic: type[BaseException]) -> None:
        self._panic = panic

    def __getattr__(self, name: str) -> object:
        raise self._panic("made to fail")


def panicking(catalog: NativeCatalog) -> Panicking:
    """Find the exception that stands for a panic of our extension; others have their own."""
    for kind in subclasses(BaseException):
        if kind.__name__ == "PanicException":
            found = Panicking(kind)
            try:
                catalog.native.prepare([{b"\0\0\1": found}], [{b"\0": found}])  # type: ignore[dict-item]  # made to fail
            except RuntimeError:
                return found
            except kind:
                continue  # another extension's
    pytest.fail("no exception stands for a panic")


def subclasses(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def zone_of(*labels: bytes) -> Zone:
    names = (labels, *([b"host%d" % number] for number in range(10)))
    hosts = (RRset(from_labels([*name, *zone_strategy.APEX_LABELS]), 1, 60, (b"\x0a\0\0\1",)) for name in names)
    sets = (zone_strategy.soa(len(labels)), zone_strategy.apex_ns(), *hosts)
    return compile_zone(ZoneIndex.of(ZoneData(zone_strategy.APEX, sets)))


@pytest.mark.parametrize("fails", ["put", "prepare", "patch"])
def test_a_panic_is_told_and_the_version_before_is_served_on(fails: str) -> None:
    both = Both()
    both.complete()
    served = zone_of(b"www")
    both.replace(served)
    found = panicking(both.native)
    owner = from_labels([b"b", b"www", *zone_strategy.APEX_LABELS])
    changes = Changes((RRset(owner, 1, 60, (b"\x0a\0\0\2",)),))
    later = recompile(served, served.index.with_changes(changes), changes)
    if fails == "put":
        table = replace(zone_of(b"b", b"www").table, soa=found)  # type: ignore[arg-type]  # made to fail
    else:
        answers = later.table.answers.edit()
        answers[owner + b"\0\1"] = found  # type: ignore[assignment]  # made to fail
        patch = later.table.patch if fails == "patch" else None
        table = replace(later.table, answers=answers.finish(), patch=patch)
    broken = replace(later, table=table)
    assert (table.patch is not None) is (fails == "patch")
    with pytest.raises(NativeFaultError, match=r"the zone z\.test\.: made to fail"):
        both.native.replace(broken)
    packets = [question(name, qtype) for name in (served.index.origin, owner, owner[2:]) for qtype in (1, 6, 16)]
    for packet in packets:
        both.hold(packet)
    assert both.answered == 2 * len(packets)
    assert both.native.zones[served.index.origin] is served
    both.replace(recompile(served, served.index.with_changes(changes), changes))
    for packet in packets:
        both.hold(packet)
    assert both.answered == 4 * len(packets)


def test_python_compiles_a_zone_that_native_code_panics_on(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = NativeCatalog(PAYLOAD_BYTES, 1)
    found = panicking(catalog)
    monkeypatch.setattr("server.plane.catalog._own_edits", lambda *_: [(zone_strategy.APEX, (found, []))])
    records = [
        (each.owner, each.rdtype, 60, each.rdatas[0]) for each in (zone_strategy.soa(1), zone_strategy.apex_ns())
    ]
    assert catalog.collect(zone_strategy.APEX, records) is None
    monkeypatch.undo()
    assert catalog.collect(zone_strategy.APEX, records) is not None


def test_python_removes_and_compiles_where_native_code_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault is an exception like others, with the zone's name, and the zone stays as it was."""
    both = Both()
    both.replace(zone_of(b"www"))

    def fail(*_: object) -> None:
        raise RuntimeError("made to fail")

    native = both.native.native
    monkeypatch.setattr(both.native, "native", SimpleNamespace(take_asked=native.take_asked, remove=fail))
    with pytest.raises(NativeFaultError, match=r"the zone z\.test\.: made to fail"):
        both.native.remove(zone_strategy.APEX)
    monkeypatch.undo()
    both.hold(question(zone_strategy.APEX, 6))
    assert zone_strategy.APEX in both.native.zones
    monkeypatch.setattr("server.plane.bulk._zone", fail)
    records = [
        (each.owner, each.rdtype, 60, each.rdatas[0]) for each in (zone_strategy.soa(1), zone_strategy.apex_ns())
    ]
    assert both.native.collect(zone_strategy.APEX, records) is None


def test_no_call_of_native_code_panics_into_python() -> None:
    """A panic would be no Exception and end whatever runs: an event loop, a transfer of another client."""
    with pytest.raises(RuntimeError):
        Packer(bytes(4), b"\0\0\1\0\1", b"", []).add([(b"\0", 15, 60, b"")])
    with pytest.raises(RuntimeError):
        Limiter(1, 1, 1, 99, 99, []).count("192.0.2.1", bytes(12))
    for path in NATIVE.glob("*.rs"):
        for methods in re.findall(r"^#\[pymethods\]\n(.*?)^}", path.read_text(), re.MULTILINE | re.DOTALL):
            for name, body in re.findall(r"^    fn (\w+)(.*?)^    }", methods, re.MULTILINE | re.DOTALL):
                assert "guarded(" in body or "self.publish(" in body or "catch_unwind(" in body, f"{path.name}: {name}"


@pytest.mark.slow
@pytest.mark.endurance
@pytest.mark.timeout(600)
def test_old_versions_are_let_go() -> None:
    both = Both()
    data = ZoneData(zone_strategy.APEX, (zone_strategy.soa(1), zone_strategy.apex_ns()))
    zones = [compile_zone(ZoneIndex.of(data)) for _ in range(2)]
    before_kb = _resident_kb()
    for number in range(1_000_000):
        table = zones[number % 2].table
        content = both.native.native.prepare(table.answers.pages, table.nodes.pages)
        both.native.native.put(table.apex, number, content, table.soa, table.signed)
    assert both.native.native.collect() <= 1
    assert _resident_kb() - before_kb < 20_000


def _resident_kb() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
