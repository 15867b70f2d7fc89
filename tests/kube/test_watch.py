from __future__ import annotations

from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.errors import Gone, Invalid, Unavailable
from kube.watch import LineSplitter, WatchEvent, WatchType, parse

LINES = st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b".")), max_size=12)


@given(LINES, st.lists(st.integers(min_value=0, max_value=300), max_size=8))
def test_lines_come_out_whole_wherever_the_stream_is_cut(lines: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    edges = [0, *sorted(cut for cut in cuts if cut <= len(stream)), len(stream)]
    splitter = LineSplitter()
    found = [line for start, end in pairwise(edges) for line in splitter.feed(stream[start:end])]
    assert found == [line for line in lines if line]


def test_an_unfinished_line_is_kept_back_and_bounded() -> None:
    splitter = LineSplitter(limit_bytes=10)
    assert splitter.feed(b"12345") == []
    assert splitter.feed(b"67890") == []
    with pytest.raises(Unavailable, match="passes 10 bytes"):
        splitter.feed(b"1")


def event(kind: str, obj: object) -> bytes:
    return orjson.dumps({"type": kind, "object": obj})


@pytest.mark.parametrize("kind", list(WatchType))
def test_events_are_parsed(kind: WatchType) -> None:
    obj = {"metadata": {"name": "a", "resourceVersion": "12"}}
    found = parse(event(kind, obj))
    assert found == WatchEvent(kind, obj)
    assert found.resource_version == "12"


def test_an_error_event_becomes_the_error_it_describes() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version: 1 (7)"}
    with pytest.raises(Gone, match="too old resource version"):
        parse(event("ERROR", status))
    with pytest.raises(Invalid):
        parse(event("ERROR", {"kind": "Status", "code": 422}))


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"{}",
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":null}',
        b'{"type":"ADDED","object":{"metadata":{}}}',
        b'{"type":"ADDED","object":[]}',
        b'{"type":"RENAMED","object":{"metadata":{"resourceVersion":"1"}}}',
        b'{"type":["x"],"object":{"metadata":{"resourceVersion":"1"}}}',
        b'{"type":"ERROR","object":7}',
    ],
)
def test_what_is_no_event_breaks_the_watch_with_a_retryable_error(line: bytes) -> None:
    with pytest.raises(Unavailable):
        parse(line)
