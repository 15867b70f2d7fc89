from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from aiohttp import web

from kube.client import Client
from kube.lease import LeaseElector
from kube.resource import ResourceRef
from tests.kube.fake_api import FakeApi, Request, refuse
from tests.kube.virtual_loop import eventually

SECRETS = ResourceRef("", "v1", "secrets", "Secret")
LEASES = "/apis/coordination.k8s.io/v1/leases"
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def local_clock() -> datetime:
    """A clock that shows local time, in a zone far from UTC."""
    return datetime(2024, 5, 1, 23, 30, tzinfo=timezone(timedelta(hours=9)))


class Contender:
    """An elector with a body that only waits; counts how it is started and stopped."""

    def __init__(self, client: Client, identity: str, *, slow_stop_s: float = 0.0, **options: Any) -> None:
        self.elector = LeaseElector(client, "system", "manager", identity, **options)
        self.started = 0
        self.stopped = 0
        self.stopped_at = 0.0
        self.slow_stop_s = slow_stop_s
        self.finish = asyncio.Event()
        self.failure: Exception | None = None
        self.task = asyncio.create_task(self.elector.run(self.body))

    @property
    def active(self) -> bool:
        return self.started > self.stopped

    async def body(self) -> None:
        self.started += 1
        try:
            await self.finish.wait()
            if self.failure is not None:
                raise self.failure
        finally:
            await asyncio.sleep(self.slow_stop_s)
            self.stopped += 1
            self.stopped_at = asyncio.get_running_loop().time()

    async def stop(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


Enter = Callable[..., Contender]


@pytest.fixture
async def enter(client: Client) -> AsyncIterator[Enter]:
    """Let a contender compete; all of them are stopped in the end."""
    contenders: list[Contender] = []

    def start(identity: str, **options: Any) -> Contender:
        contenders.append(Contender(client, identity, **options))
        return contenders[-1]

    yield start
    for contender in contenders:
        with suppress(RuntimeError):
            await contender.stop()


def spec(api: FakeApi) -> dict[str, Any]:
    found = api.stored(LEASES, "system", "manager")["spec"]
    assert isinstance(found, dict)
    return found


async def test_the_only_contender_leads_and_renews(api: FakeApi, enter: Enter) -> None:
    a = enter("a", clock=local_clock)
    await eventually(lambda: a.active)
    assert a.elector.leading
    assert a.elector.leader == "a"
    assert spec(api) == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "leaseTransitions": 0,
        "acquireTime": "2024-05-01T14:30:00.000000Z",
        "renewTime": "2024-05-01T14:30:00.000000Z",
    }
    writes = len(api.requests)
    await asyncio.sleep(60)
    assert len(api.requests) - writes >= 2 * 60 // 2.4
    assert (a.started, a.stopped) == (1, 0)


RARELY: dict[str, Any] = {"lease_duration_s": 300.0, "renew_deadline_s": 200.0, "renew_period_s": 100.0}


async def test_who_renews_rarely_leads_on_and_sees_at_once_what_becomes_of_the_lease(
    api: FakeApi, enter: Enter
) -> None:
    a = enter("a", **RARELY)
    await eventually(lambda: a.active)
    b = enter("b", **RARELY)
    await asyncio.sleep(990)
    written = [request for request in api.requests if request.method in ("PUT", "POST")]
    assert len(written) == 10
    assert (a.started, a.stopped, b.started) == (1, 0, 0)
    stored = api.stored(LEASES, "system", "manager")
    api.put(LEASES, stored | {"spec": stored["spec"] | {"holderIdentity": "thief"}})
    await eventually(lambda: not a.active, timeout_s=4)


async def test_who_renews_rarely_hands_over_at_once(enter: Enter) -> None:
    a = enter("a", **RARELY)
    await eventually(lambda: a.active)
    b = enter("b", **RARELY)
    await asyncio.sleep(30)
    await a.stop()
    await eventually(lambda: b.active, timeout_s=4)


async def test_the_times_of_a_renewal_do_not_depend_on_those_of_looks(api: FakeApi, enter: Enter) -> None:
    enter("a", renew_period_s=5.0)
    await asyncio.sleep(99)
    assert len([request for request in api.requests if request.method == "PUT"]) == 19


async def test_a_renewal_that_fails_is_tried_again_soon(api: FakeApi, enter: Enter) -> None:
    a = enter("a", **RARELY)
    await eventually(lambda: a.active)
    heal = api.fault(lambda request: refuse(503, "ServiceUnavailable"))
    await asyncio.sleep(190)
    heal()
    await asyncio.sleep(100)
    assert (a.started, a.stopped) == (1, 0)


async def test_times_are_micro_times_in_utc(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    before = datetime.now(UTC)
    for name in ("acquireTime", "renewTime"):
        text = spec(api)[name]
        assert MICRO_TIME.fullmatch(text)
        assert abs(datetime.fromisoformat(text) - before) < timedelta(minutes=1)


async def test_one_of_many_leads(enter: Enter) -> None:
    contenders = [enter(name) for name in "abcde"]
    for _ in range(20):
        await asyncio.sleep(5)
        assert sum(contender.active for contender in contenders) == 1
    assert sum(contender.started for contender in contenders) == 1
    assert len({contender.elector.leader for contender in contenders}) == 1


async def test_a_stopped_leader_hands_over_at_once(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    b = enter("b")
    await asyncio.sleep(10)
    assert not b.active
    before = asyncio.get_running_loop().time()
    await a.stop()
    assert (a.stopped, spec(api)["holderIdentity"]) == (1, "")
    await eventually(lambda: b.active)
    assert asyncio.get_running_loop().time() - before < 3
    assert spec(api)["holderIdentity"] == "b"
    assert spec(api)["leaseTransitions"] == 1


async def test_a_vanished_leader_is_followed_after_the_lease_duration(api: FakeApi, enter: Enter) -> None:
    manifest = {
        "metadata": {"namespace": "system", "name": "manager"},
        "spec": {
            "holderIdentity": "gone",
            "leaseDurationSeconds": 40,
            "leaseTransitions": 7,
            "renewTime": "2001-01-01T00:00:00.000000Z",  # its clock counts for nothing
        },
    }
    api.put(LEASES, manifest)
    before = asyncio.get_running_loop().time()
    a = enter("a")
    await eventually(lambda: a.active)
    assert 40 <= asyncio.get_running_loop().time() - before < 43
    assert spec(api)["leaseTransitions"] == 8


async def test_a_leader_that_cannot_renew_stops_before_anybody_else_starts(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    b = enter("b")
    await eventually(lambda: b.elector.leader == "a")
    heal = api.fault(lambda request: refuse(503, "ServiceUnavailable") if written_by(request, "a") else None)
    before = asyncio.get_running_loop().time()
    await eventually(lambda: not a.active)
    assert 7 < a.stopped_at - before <= 10.01
    assert not b.active
    assert not a.elector.leading
    await eventually(lambda: b.active)
    assert asyncio.get_running_loop().time() - before <= 18
    heal()
    await asyncio.sleep(30)
    assert (a.active, b.active) == (False, True)


def written_by(request: Request, identity: str) -> bool:
    return request.method in ("PUT", "POST") and request.body["spec"]["holderIdentity"] == identity


async def test_a_renewal_without_an_answer_ends_leadership_in_time(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    api.fault(lambda request: Never())
    before = asyncio.get_running_loop().time()
    await eventually(lambda: not a.active)
    assert a.stopped_at - before <= 10.01


class Never(web.StreamResponse):
    async def prepare(self, request: web.BaseRequest) -> None:
        await asyncio.sleep(3600)


async def test_short_faults_do_not_end_leadership(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    for _ in range(10):
        heal = api.fault(lambda request: refuse(500, "InternalError"))
        await asyncio.sleep(5)
        heal()
        await asyncio.sleep(5)
    assert (a.started, a.stopped) == (1, 0)


async def test_foreign_writes_to_the_lease_are_met_by_another_look(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    for _ in range(5):
        await asyncio.sleep(3)
        stored = api.stored(LEASES, "system", "manager")
        api.put(LEASES, stored | {"metadata": stored["metadata"] | {"labels": {"touched": "yes"}}})
    await asyncio.sleep(30)
    assert (a.started, a.stopped) == (1, 0)
    assert api.stored(LEASES, "system", "manager")["metadata"]["labels"] == {"touched": "yes"}


async def test_a_taken_lease_ends_leadership_at_once(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    stored = api.stored(LEASES, "system", "manager")
    api.put(LEASES, stored | {"spec": stored["spec"] | {"holderIdentity": "thief"}})
    await eventually(lambda: not a.active, timeout_s=4)
    await eventually(lambda: a.active, timeout_s=20)  # the thief never renews
    assert a.started == 2


async def test_a_deleted_lease_is_made_again(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    api.remove(LEASES, "system", "manager")
    await eventually(lambda: bool(api.all(LEASES)))
    assert (a.started, a.stopped) == (1, 0)


async def test_a_body_that_ends_by_itself_releases(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    a.finish.set()
    await a.task
    assert spec(api)["holderIdentity"] == ""
    assert not a.elector.leading


async def test_a_failing_body_releases_and_fails_the_elector(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    a.failure = RuntimeError("a fault of the body")
    a.finish.set()
    with pytest.raises(RuntimeError, match="a fault of the body"):
        await a.task
    assert spec(api)["holderIdentity"] == ""


async def test_the_lease_is_released_only_after_the_body_has_stopped(api: FakeApi, enter: Enter) -> None:
    a = enter("a", slow_stop_s=2.0)
    await eventually(lambda: a.active)
    stop = asyncio.create_task(a.stop())
    await asyncio.sleep(1.5)
    assert spec(api)["holderIdentity"] == "a"
    await stop
    assert spec(api)["holderIdentity"] == ""


async def test_an_impatient_stop_still_stops_the_body(api: FakeApi, enter: Enter) -> None:
    a = enter("a", slow_stop_s=2.0)
    await eventually(lambda: a.active)
    for _ in range(2):
        a.task.cancel()
        await asyncio.sleep(0.5)
    await eventually(lambda: a.stopped == 1, timeout_s=3)


async def test_stopping_does_not_wait_for_an_absent_server(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    await eventually(lambda: a.active)
    api.fault(lambda request: Never())
    before = asyncio.get_running_loop().time()
    await a.stop()
    assert asyncio.get_running_loop().time() - before < 3


async def test_another_processs_lease_is_not_released(api: FakeApi, enter: Enter) -> None:
    a = enter("a")
    b = enter("b")
    await eventually(lambda: a.active or b.active)
    leader, other = (a, b) if a.active else (b, a)
    await other.stop()
    await asyncio.sleep(5)
    assert leader.active
    assert spec(api)["holderIdentity"] == leader.elector.leader


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lease_duration_s": 5}, "lease_duration_s > renew_deadline_s"),
        ({"retry_period_s": 9}, r"1\.2 \* retry_period_s"),
        ({"retry_period_s": 0}, "found 15.0, 10.0, 0.0, 0"),
        ({"renew_period_s": 8.0}, r"renew_deadline_s > renew_period_s \+"),
        ({"renew_period_s": -1}, "renew_period_s >= 0"),
    ],
)
async def test_times_that_do_not_fit_are_refused(client: Client, options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LeaseElector(client, "system", "manager", "a", **options)  # type: ignore[arg-type]  # mypy checks ** against all
    with pytest.raises(ValueError, match="identity"):
        LeaseElector(client, "system", "manager", "")


async def test_what_was_due_when_the_time_ran_out_does_not_go_out(
    api: FakeApi, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process was held up: its loop has not noticed yet, and somebody else may lead."""
    written: list[str] = []
    wakes = asyncio.Event()

    async def write(name: str) -> None:
        await client.create(SECRETS, {"metadata": {"name": f"{name}-{len(written)}", "namespace": "system"}})
        written.append(name)

    async def body() -> None:
        await write("in-time")
        await wakes.wait()
        await write("once-awake")

    elector = LeaseElector(client, "system", "manager", "a")
    task = asyncio.create_task(elector.run(body))
    await eventually(lambda: written == ["in-time"])
    pass_by(monkeypatch, 15.0)
    wakes.set()
    await task  # it competes again, and leads as long as it has something to do
    assert written == ["in-time", "in-time", "once-awake"]


def pass_by(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let time go by, asleep or held up, that the loop does not notice."""
    monkeypatch.setattr("kube.lease.machine_time_s", lambda: time.monotonic() + seconds)


async def write(client: Client, name: str) -> None:
    await client.create(SECRETS, {"metadata": {"name": name, "namespace": "system"}})


async def test_a_leadership_in_which_something_was_held_back_ends_though_the_lease_is_renewed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = 0

    async def body() -> None:
        nonlocal terms
        terms += 1
        if terms == 1:
            pass_by(monkeypatch, 15.0)
            async with asyncio.TaskGroup() as tasks:
                held_back = tasks.create_task(write(client, "late"))
            assert held_back.cancelled(), "which the group does not mind"
            pass_by(monkeypatch, 0.0)
            await asyncio.Event().wait()

    elector = LeaseElector(client, "system", "manager", "a")
    async with asyncio.timeout(30):
        await elector.run(body)
    assert terms == 2


async def test_what_a_former_leadership_has_left_running_is_held_back_in_the_next(client: Client) -> None:
    wakes, left = asyncio.Event(), list[asyncio.Task[None]]()

    async def late() -> None:
        await wakes.wait()
        await write(client, "late")

    async def body() -> None:
        if not left:
            left.append(asyncio.create_task(late()))
            raise asyncio.CancelledError
        wakes.set()
        await asyncio.wait(left)

    await LeaseElector(client, "system", "manager", "a").run(body)
    assert left[0].cancelled()


async def test_who_has_slept_renews_before_leading_again(
    api: FakeApi, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = 0

    async def body() -> None:
        nonlocal started
        started += 1
        if started == 1:
            pass_by(monkeypatch, 3600.0)
        await write(client, f"secret-{started}")

    await LeaseElector(client, "system", "manager", "a", **RARELY).run(body)
    assert started == 2
    assert len([each for each in api.requests if each.path.endswith("/manager") and each.method == "PUT"]) == 2


async def test_who_has_slept_does_not_go_on_as_if_nothing_had_been(
    api: FakeApi, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else may have led and gone by then."""
    a = enter("a", **RARELY)
    await eventually(lambda: a.active)
    pass_by(monkeypatch, 3600.0)
    await eventually(lambda: a.started == 2, timeout_s=8)
    assert a.stopped == 1
