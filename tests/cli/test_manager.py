"""`dns-api manager` as a process: where it serves admission, and what it says when it cannot."""

from __future__ import annotations

import json
import re
import socket
import ssl
import sys
import urllib.request
from pathlib import Path

import pytest

from controllers.manager import LEASE_NAME
from controllers.runtime.tracing import MissingTracingError, send_spans
from kube.config import connect
from kube.lease import LEASES
from standalone.up.config import SERVER_NAME
from tests.cli.command import finished, started
from tests.cli.conftest import Up
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.controllers.core.admission.test_handler import review
from tests.product.product import free_port

ZONES = "/validate/dns.appthrust.io/v1alpha1/zones"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def cert_dir(authority: Authority, tmp_path: Path) -> Path:
    authority.write(ServingPair(tmp_path), serial=1)
    return tmp_path


def test_a_manager_that_does_not_lead_serves_admission(
    up: Up, home: Path, authority: Authority, cert_dir: Path
) -> None:
    environment = {
        "HOME": str(home),
        "WEBHOOK_LISTEN": "127.0.0.1:0",
        "WEBHOOK_CERT_DIR": str(cert_dir),
        "POD_NAME": "second",
    }
    words = ["manager", "--kubeconfig", str(up.kubeconfig)]
    with started(*words, environment=environment) as process:
        line = process.stderr.until("webhook.listening")
        port = json.loads(line)["port"]
        question = review("zones", "CREATE", {"metadata": {"namespace": "a", "name": "b"}, "spec": {}})
        health, answer = (
            _ask(port, path, body, authority.client_context()) for path, body in (("/readyz", None), (ZONES, question))
        )
        awaited = json.loads(process.stderr.until("waits for the lease"))
        process.send_signal(15)
        assert process.ended() == 0
        assert "became leader" not in process.stderr.rest()

    assert health == "ok"
    assert awaited["leader"] == SERVER_NAME
    fields = [cause["field"] for cause in json.loads(answer)["response"]["status"]["details"]["causes"]]
    assert fields == ["spec.domainName", "spec.zoneClassRef", "spec.provider"]


async def test_the_lease_is_taken_for_as_long_as_is_asked(up: Up, home: Path, namespace: str) -> None:
    words = ["--namespace", namespace, "--lease-duration-seconds", "300", "--no-hosted-controller-enabled"]
    with started("manager", "--kubeconfig", str(up.kubeconfig), *words, environment={"HOME": str(home)}) as process:
        process.stderr.until("became leader")
        async with connect(up.kubeconfig, field_manager="test") as client:
            lease = await client.get(LEASES, namespace=namespace, name=LEASE_NAME)
        process.send_signal(15)
        assert process.ended() == 0
    assert lease["spec"]["leaseDurationSeconds"] == 300


def test_an_address_in_use_is_told(up: Up, home: Path, cert_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        words = ["manager", "--kubeconfig", str(up.kubeconfig), "--webhook-listen", address]
        result = finished(*words, "--webhook-cert-dir", str(cert_dir), environment={"HOME": str(home)})

    assert result.code == 1
    assert re.search(r"^error: cannot listen on 127\.0\.0\.1, port \d+: ", result.stderr, re.MULTILINE)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--webhook-listen", ":9443"], "a folder with tls.crt and tls.key is needed"),
        (["--webhook-cert-dir", "/nowhere"], "/nowhere/tls.crt, /nowhere/tls.key: "),
        (["--webhook-listen", "9443", "--webhook-cert-dir", "."], "found '9443', allowed is HOST:PORT"),
        (["--lease-duration-seconds", "14"], "found '14', allowed is 15 or more"),
    ],
    ids=["no certificates", "no such folder", "no port", "no time to renew"],
)
def test_options_that_do_not_go_together_are_told(home: Path, words: list[str], told: str) -> None:
    result = finished("manager", *words, environment={"HOME": str(home)})

    assert result.code == 2
    assert told in " ".join(result.stderr.split())


def _ask(port: int, path: str, body: object, context: ssl.SSLContext) -> str:
    headers = {"Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"https://localhost:{port}{path}", data, headers)
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_a_port_alone_means_all_addresses_of_both_versions_of_ip(
    up: Up, home: Path, authority: Authority, cert_dir: Path, host: str
) -> None:
    metrics, webhook = free_port(), free_port()
    words = ["--metrics-listen", f":{metrics}", "--webhook-listen", f":{webhook}", "--webhook-cert-dir", str(cert_dir)]
    with started("manager", "--kubeconfig", str(up.kubeconfig), *words, environment={"HOME": str(home)}) as process:
        process.stderr.until("webhook.listening")
        with urllib.request.urlopen(f"http://{host}:{metrics}/metrics", timeout=30) as answer:
            assert answer.status == 200
        with socket.create_connection((host.strip("[]"), webhook), timeout=30) as plain:
            authority.client_context().wrap_socket(plain, server_hostname="localhost").close()


def test_metrics_are_served_on_a_listener_of_their_own(up: Up, home: Path) -> None:
    environment = {"HOME": str(home), "METRICS_LISTEN": "127.0.0.1:0", "POD_NAME": "measured"}
    with started("manager", "--kubeconfig", str(up.kubeconfig), environment=environment) as process:
        port = json.loads(process.stderr.until("metrics are served"))["port"]
        process.stderr.until("caches are complete")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=30) as answer:
            assert answer.read() == b"ok\n", "a manager that serves no admission has its probes here"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        process.send_signal(15)
        assert process.ended() == 0
    assert 'dns_api_leader_election_master_status{name="dns-api-manager"} 0.0' in text
    assert re.search(r'dns_api_rest_client_requests_total\{code="200",method="GET"\} \d', text)


def test_a_collector_that_is_not_there_keeps_nothing_from_working_or_ending(up: Up, home: Path) -> None:
    words = ["--metrics-listen", "127.0.0.1:0", "--traces-endpoint", f"http://127.0.0.1:{free_port()}/v1/traces"]
    with started("manager", "--kubeconfig", str(up.kubeconfig), *words, environment={"HOME": str(home)}) as process:
        process.stderr.until("caches are complete")
        process.send_signal(15)
        assert process.ended() == 0


def test_without_the_library_spans_are_refused_with_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(MissingTracingError, match=r"pip install 'dns-api\[tracing\]'"):
        send_spans("http://127.0.0.1:1/v1/traces")
