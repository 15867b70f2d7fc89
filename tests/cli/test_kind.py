"""Names of kinds: what a word means, and where the knowledge comes from."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from cli.api.kind import Kind, Kinds, Wanted, parse_words
from cli.api.refusal import CommandError
from kube.access import Access
from kube.client import Client
from kube.resource import ResourceRef
from tests.kube.fake_api import FakeApi, Request


def kind(group: str, plural: str, name: str, *short_names: str, categories: tuple[str, ...] = ()) -> Kind:
    ref = ResourceRef(group, "v1", plural, name)
    return Kind(ref, name.lower(), short_names, categories, frozenset({"get", "list"}))


ZONES = kind("dns.appthrust.io", "zones", "Zone", categories=("dns",))
RECORD_SETS = kind("dns.appthrust.io", "recordsets", "RecordSet", "rrset", categories=("dns",))
OTHER_ZONES = kind("a.example.com", "zones", "Zone", "z")
EVENTS = kind("", "events", "Event", "ev")
LATER_EVENTS = kind("events.k8s.io", "events", "Event", "ev")
KINDS = Kinds([EVENTS, LATER_EVENTS, OTHER_ZONES, ZONES, RECORD_SETS])


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("zones", [ZONES]),
        ("Zone", [ZONES]),
        ("zones.dns.appthrust.io", [ZONES]),
        ("zone.v1.dns.appthrust.io", [ZONES]),
        ("zones.a.example.com", [OTHER_ZONES]),
        ("z", [OTHER_ZONES]),
        ("events", [EVENTS]),
        ("events.v1", [EVENTS]),
        ("ev.events.k8s.io", [LATER_EVENTS]),
        ("RRSET", [RECORD_SETS]),
        ("dns", [ZONES, RECORD_SETS]),
    ],
)
def test_words(word: str, found: list[Kind]) -> None:
    assert KINDS.named(word) == found


def test_words_that_mean_nothing() -> None:
    for word in ("", "zonez", ".", "zones.", "zones.v2.dns.appthrust.io"):
        with pytest.raises(CommandError, match="the API has no kind"):
            KINDS.named(word)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["zones"], [Wanted(ZONES)]),
        (["zones,rrset"], [Wanted(ZONES), Wanted(RECORD_SETS)]),
        (["zones,zone,dns"], [Wanted(ZONES), Wanted(RECORD_SETS)]),
        (["zone", "a", "b", "a"], [Wanted(ZONES, "a"), Wanted(ZONES, "b")]),
        (["zone,rrset", "a"], [Wanted(ZONES, "a"), Wanted(RECORD_SETS, "a")]),
        (["rrset/b", "zone/a"], [Wanted(RECORD_SETS, "b"), Wanted(ZONES, "a")]),
    ],
)
def test_words_of_a_command(words: list[str], wanted: list[Wanted]) -> None:
    assert parse_words(KINDS, words) == wanted


@pytest.mark.parametrize("words", [[], ["zone/a", "b"], ["zone/"], ["/a"], ["zone/a/b"], ["zone", ""], [""]])
def test_words_of_a_command_that_mean_nothing(words: list[str]) -> None:
    with pytest.raises(CommandError):
        parse_words(KINDS, words)


def test_a_kind_is_found_by_group_and_kind() -> None:
    assert KINDS.of("dns.appthrust.io/v1alpha9", "Zone") == ZONES
    assert KINDS.of("v1", "Event") == EVENTS
    with pytest.raises(CommandError, match="does not serve kind 'Zone' in 'v1'"):
        KINDS.of("v1", "Zone")


@pytest.fixture
async def older() -> AsyncIterator[FakeApi]:
    """A server without aggregated discovery."""
    documents: dict[str, object] = {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {
            "kind": "APIGroupList",
            "groups": [{"name": "x.io", "preferredVersion": {"groupVersion": "x.io/v1"}}],
        },
        "/api/v1": {"resources": [{"name": "nodes", "kind": "Node", "namespaced": False, "verbs": ["list"]}]},
        "/apis/x.io/v1": {"resources": [{"name": "things", "kind": "Thing", "namespaced": True, "shortNames": ["th"]}]},
    }

    def answer(request: Request) -> web.Response:
        return web.json_response(documents[request.path])

    async with FakeApi() as server:
        server.fault(answer)
        yield server


async def test_an_older_server_is_asked_group_by_group(older: FakeApi) -> None:
    async with Client(Access(older.url)) as client:
        kinds = await Kinds.ask(client)
    (things,) = kinds.named("th")
    assert (things.label, things.ref.namespaced) == ("thing.x.io", True)
    (nodes,) = kinds.named("node")
    assert nodes.ref == ResourceRef("", "v1", "nodes", "Node", namespaced=False)
    assert "APIGroupDiscoveryList" in older.requests[0].headers["Accept"]
