"""Spans: one for each reconcile, request to a provider and question of admission, below one another, and none when nobody wants them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from controllers.core.admission.certificate import ServingCertificate
from controllers.core.admission.handler import Admission
from controllers.core.admission.lookup import NoLookups
from controllers.core.admission.server import WebhookServer
from controllers.runtime import tracing
from controllers.runtime.controller import Controller, TerminalError
from controllers.runtime.metrics import provider_call
from controllers.runtime.tracing import export_spans, send_spans, span
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.controllers.core.admission.test_handler import review

ROOT = Path(__file__).parents[3]


class Collected:
    """Spans that were sent, once tracing has ended."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self._stop = export_spans(self.exporter)

    def end(self) -> list[ReadableSpan]:
        self._stop()
        return list(self.exporter.get_finished_spans())


@pytest.fixture
def collected() -> Iterator[Collected]:
    found = Collected()
    yield found
    found.end()


async def reconciled(collected: Collected, fails: BaseException | None = None) -> list[ReadableSpan]:
    """Run one reconcile, which asks a provider twice, from another thread and after a pause; the second answer may be an error."""
    done = asyncio.Event()

    async def reconcile(key: str) -> None:
        try:
            with provider_call("route53", "list_hosted_zones"):
                await asyncio.to_thread(lambda: None)
            with provider_call("route53", "change_resource_record_sets"):
                await asyncio.sleep(0)
                if fails is not None:
                    raise fails
        finally:
            done.set()

    controller = Controller("zones", reconcile, workers=1)
    controller.enqueue("default/shop")
    running = asyncio.create_task(controller.run())
    await done.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return collected.end()


async def test_a_reconcile_is_a_span_with_its_requests_below_it(collected: Collected) -> None:
    first, second, around = await reconciled(collected)
    assert (around.name, dict(around.attributes or {})) == ("reconcile", {"controller": "zones", "key": "default/shop"})
    assert around.parent is None
    for each, operation in ((first, "list_hosted_zones"), (second, "change_resource_record_sets")):
        assert (each.name, dict(each.attributes or {})) == (
            "provider call",
            {"provider": "route53", "operation": operation},
        )
        assert each.parent is not None
        assert around.context is not None
        assert each.parent.span_id == around.context.span_id
    assert {each.resource.attributes["service.name"] for each in (first, second, around)} == {"dns-api-manager"}


async def test_a_failure_is_told_by_its_class_and_never_by_its_text(collected: Collected) -> None:
    _, failed, around = await reconciled(collected, TerminalError("secret of the provider"))
    assert {(each.status.status_code, each.status.description) for each in (failed, around)} == {
        (StatusCode.ERROR, "TerminalError")
    }
    assert "secret" not in failed.to_json() + around.to_json()


async def test_a_question_of_admission_is_a_span(collected: Collected, tmp_path: Path) -> None:
    authority = Authority()
    authority.write(ServingPair(tmp_path), 1)
    certificate = ServingCertificate(tmp_path / "tls.crt", tmp_path / "tls.key")
    path = "/validate/dns.appthrust.io/v1alpha1/zones"
    question = review("zones", "CREATE", {"metadata": {"namespace": "a", "name": "b"}, "spec": {}})
    async with (
        WebhookServer(Admission(NoLookups()).hooks(), certificate, host="127.0.0.1", port=0) as server,
        aiohttp.ClientSession() as session,
        session.post(f"https://localhost:{server.port}{path}", json=question, ssl=authority.client_context()) as reply,
    ):
        assert reply.status == 200
    (found,) = collected.end()
    assert (found.name, dict(found.attributes or {})) == ("admission", {"path": path})


async def test_spans_reach_a_collector_by_otlp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "our-manager")
    bodies: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response()

    application = web.Application()
    application.router.add_post("/v1/traces", take)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    stop = send_spans(f"http://127.0.0.1:{runner.addresses[0][1]}/v1/traces")
    with span("reconcile", controller="zones", key="a/b"):
        pass
    await asyncio.to_thread(stop)
    await runner.cleanup()
    (traces,) = (ExportTraceServiceRequest.FromString(each).resource_spans for each in bodies)
    (resource,) = traces
    names = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert names["service.name"] == "our-manager"
    assert [each.name for each in resource.scope_spans[0].spans] == ["reconcile"]


def test_without_anybody_to_send_them_to_there_are_none_and_the_library_is_not_even_imported() -> None:
    assert tracing.span("reconcile") is tracing.span("admission"), "one context that does nothing serves all"
    program = (
        "import sys, controllers.runtime.controller, controllers.runtime.metrics, controllers.core.admission.server\n"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, timeout=60).returncode == 0
