"""What the manager counts, and how it is shown."""

from __future__ import annotations

import aiohttp
import pytest
from prometheus_client import REGISTRY

from controllers.runtime import metrics
from controllers.runtime.metrics_server import MetricsListenError, MetricsServer


def calls(code: str) -> float:
    return REGISTRY.get_sample_value("dns_api_provider_calls_total", {"provider": "tested", "code": code}) or 0.0


def test_calls_are_counted_by_what_came_of_them() -> None:
    with metrics.provider_call("tested"):
        pass
    with pytest.raises(LookupError), metrics.provider_call("tested"):
        raise LookupError
    assert (calls("ok"), calls("LookupError")) == (1, 1)


def test_a_state_is_counted_when_it_begins_and_shown_while_it_lasts() -> None:
    def shown() -> tuple[float | None, float | None]:
        value = REGISTRY.get_sample_value
        return value("dns_api_change_guard_holds_total"), value("dns_api_change_guard_held_zones")

    before = shown()[0] or 0.0
    tally = metrics.Tally(metrics.GUARD_HOLDS, metrics.GUARD_HELD_ZONES)
    for _ in range(3):
        tally.note("a", holds=True)
    tally.note("b", holds=True)
    assert shown() == (before + 2, 2)
    tally.note("a", holds=False)
    assert shown() == (before + 2, 1)
    tally.close()
    assert shown() == (before + 2, 0)


async def test_health_is_told_beside_them_and_readiness_once_it_is_so() -> None:
    ready = False
    async with MetricsServer("127.0.0.1", 0, lambda: ready) as server, aiohttp.ClientSession() as session:

        async def status(path: str) -> int:
            async with session.get(f"http://127.0.0.1:{server.port}{path}") as reply:
                return reply.status

        assert (await status("/healthz"), await status("/readyz")) == (200, 503)
        ready = True
        assert (await status("/healthz"), await status("/readyz")) == (200, 200)


async def test_series_are_served_and_nothing_else() -> None:
    async with MetricsServer("127.0.0.1", 0, lambda: True) as server, aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{server.port}/metrics") as reply:
            text = await reply.text()
        async with session.get(f"http://127.0.0.1:{server.port}/") as other:
            assert other.status == 404
        with pytest.raises(MetricsListenError, match=f"metrics: cannot listen on 127.0.0.1, port {server.port}: "):
            await MetricsServer("127.0.0.1", server.port, lambda: True).__aenter__()
    assert "# TYPE dns_api_reconcile_time_seconds histogram" in text
