"""Packets that take every known way through the server's readers: they stay harmless, and both matchers answer them alike."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from server import wire
from server.answer import query
from server.answer.matcher import Matcher
from server.plane.choice import has_native
from server.transfer import message_reader
from tests.server.guided import WATCHED, drive, edges_of, read_corpus, search, served

CORPUS = read_corpus()
SEARCH_S = 60.0


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return served()


@pytest.mark.parametrize("packet", CORPUS, ids=lambda packet: packet.hex()[:60] or "nothing")
def test_a_packet_of_the_corpus_is_read_as_it_should_be(packet: bytes, matcher: Matcher) -> None:
    drive(matcher, packet)


def lines_of(code: CodeType) -> set[int]:
    """The lines within the functions that a code object holds."""
    found = set()
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= lines_of(inner)
            if inner.co_flags & inspect.CO_OPTIMIZED:
                found |= {line for _, _, line in inner.co_lines() if line and line > inner.co_firstlineno}
    return found


@pytest.mark.parametrize("module", [wire, query, message_reader], ids=lambda module: module.__name__)
def test_the_corpus_takes_nearly_every_way_through_the_readers(module: ModuleType, matcher: Matcher) -> None:
    path = inspect.getfile(module)
    lines = lines_of(compile(Path(path).read_text(), path, "exec"))
    taken = {line for packet in CORPUS for code, _, line in edges_of(matcher, packet) if code.co_filename == path}
    missing = lines - taken
    assert len(missing) <= len(lines) // 10, sorted(missing)


def test_all_readers_are_watched() -> None:
    assert [each for each in WATCHED if not Path(each).exists()] == []


@pytest.mark.skipif(not has_native(), reason="the native data plane is not built")
def test_native_and_python_answer_the_corpus_alike() -> None:
    from tests.server.test_native_matcher import Both, suite_zones

    both = Both()
    for zone in suite_zones():
        both.replace(zone)
    both.complete()
    for packet in CORPUS:
        both.hold(packet)
    assert both.answered


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_fuzz_along_new_ways(matcher: Matcher) -> None:
    found, tried = search(matcher, CORPUS, SEARCH_S, seed=1)
    assert tried > 1000
    if not has_native():
        return
    from tests.server.test_native_matcher import Both, suite_zones

    both = Both()
    for zone in suite_zones():
        both.replace(zone)
    both.complete()
    for packet in found:
        both.hold(packet)
