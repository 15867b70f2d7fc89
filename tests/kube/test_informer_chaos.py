"""Whatever happens between server and informer, in the end the copy equals the server and the told changes add up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kube.access import Access
from kube.backoff import Backoff
from kube.client import Client
from kube.informer import Informer, WatchPolicy
from kube.object import ObjectKey
from kube.resource import ResourceRef
from kube.store import Change
from tests.kube.fake_api import FakeApi, refuse
from tests.kube.virtual_loop import VirtualTimeLoop, eventually

THINGS = ResourceRef("x.io", "v1", "things", "Thing")
COLLECTION = "/apis/x.io/v1/things"
POLICY = WatchPolicy(
    shortest_s=20, longest_s=40, idle_timeout_s=10, page_limit=2, backoff=Backoff(first_s=0.1, base_s=0.2, cap_s=2.0)
)

NAMES = st.sampled_from("abcdef")
STEP = st.one_of(
    st.tuples(st.just("put"), NAMES),
    st.tuples(st.just("remove"), NAMES),
    st.tuples(
        st.sampled_from(
            ["cut", "end", "compact", "expire", "bookmark", "restart", "lose data", "fail list", "fail watch", "double"]
        ),
        st.just(""),
    ),
    st.tuples(st.just("wait"), st.sampled_from(["0", "0.05", "1", "15"])),
)


def decode(obj: Mapping[str, Any]) -> int:
    return int(obj["spec"]["size"])


class Ledger:
    """What a subscriber believes, from nothing but the changes it was told."""

    def __init__(self) -> None:
        self.state: dict[ObjectKey, int] = {}

    def note(self, change: Change[int]) -> None:
        assert change.old == self.state.get(change.key)
        if change.new is None:
            del self.state[change.key]
        else:
            self.state[change.key] = change.new


class Scenario:
    def __init__(self, api: FakeApi) -> None:
        self.api = api
        self.size = 0

    async def step(self, name: str, argument: str) -> None:
        api = self.api
        if name == "put":
            self.size += 1
            api.put(COLLECTION, {"metadata": {"namespace": "ns", "name": argument}, "spec": {"size": self.size}})
        elif name == "remove":
            if any(obj["metadata"]["name"] == argument for obj in api.all(COLLECTION)):
                api.remove(COLLECTION, "ns", argument)
        elif name == "wait":
            await asyncio.sleep(float(argument))
        elif name == "expire":
            api.compact()
            api.expire_in_stream()
        elif name in ("restart", "lose data"):
            port = api.port
            await api.stop()
            if name == "lose data":
                api.wipe()
            await api.start(port)
            if (
                name == "lose data"
            ):  # nobody can tell a history that has come as far as the lost one before he looks again
                await eventually(lambda: api.watching > 0)
        elif name == "fail list":
            api.fail_next(lambda: refuse(500, "InternalError"), when=lambda request: request.is_list)
        elif name == "fail watch":
            api.fail_next(lambda: refuse(503, "ServiceUnavailable"), when=lambda request: request.is_watch)
        elif name == "double":
            for obj in api.all(COLLECTION)[-1:]:
                api.send("MODIFIED", obj)
        else:
            {"cut": api.cut_watches, "end": api.end_watches, "compact": api.compact, "bookmark": api.bookmark}[name]()

    def expected(self) -> dict[ObjectKey, int]:
        return {ObjectKey.parse(obj): decode(obj) for obj in self.api.all(COLLECTION)}


async def play(steps: list[tuple[str, str]]) -> None:
    async with FakeApi() as api, Client(Access(api.url)) as client:
        informer = Informer(client, THINGS, decode, policy=POLICY)
        informer.add_index("parity", lambda size: [size % 2])
        ledger = Ledger()
        informer.subscribe(ledger.note)
        task = asyncio.create_task(informer.run())
        scenario = Scenario(api)
        for name, argument in steps:
            await scenario.step(name, argument)

        def settled() -> bool:
            api.bookmark()
            return dict(informer.items()) == scenario.expected() and api.watching > 0

        await eventually(settled)
        assert ledger.state == scenario.expected()
        for parity in (0, 1):
            indexed = {key for key, size in scenario.expected().items() if size % 2 == parity}
            assert set(informer.keys_by_index("parity", parity)) == indexed
        assert not task.done()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@settings(max_examples=60, deadline=None)
@example([("lose data", ""), *[("put", "a")] * 3, ("wait", "1"), ("lose data", ""), *[("put", "a")] * 3])
@given(st.lists(STEP, max_size=30))
def test_the_copy_converges_and_the_changes_add_up(steps: list[tuple[str, str]]) -> None:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(play(steps))
