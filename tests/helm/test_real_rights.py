"""Manager and name server on a real API server, each as its own ServiceAccount, so that the cluster's authorizer judges them.

`python -m tests.standalone.real_server DIRECTORY tests/helm/test_real_rights.py`
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.command import started
from tests.helm.chart import only, render
from tests.helm.cluster import announce, manager_words, server_words
from tests.helm.place import BIN, CHART, NAMESPACE, ROOT
from tests.product.product import free_port
from tests.standalone.kubectl.command import Command

URL = os.environ.get("DNS_API_KUBE_URL", "")
TOKEN = os.environ.get("DNS_API_KUBE_TOKEN", "")
ELSEWHERE = "192.0.2.1"
"""No server is asked at its address here, and a real API takes none of the loopback for an endpoint."""
SETTINGS = (*only("hosted"), "endpoint.serviceSource.enabled=false")

pytestmark = pytest.mark.skipif(not URL, reason="needs a real API server: DNS_API_KUBE_URL")


def write_configuration(path: Path, token: str) -> None:
    """Write how to get to the server with a token."""
    configuration = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": {"server": URL, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "real", "user": {"token": token}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "real"}}],
        "current-context": "real",
    }
    path.write_text(json.dumps(configuration), encoding="utf-8")


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """kubectl with every right, on a cluster with the chart installed; nobody calls the webhook, which no Service leads to here."""
    home = tmp_path_factory.mktemp("home")
    write_configuration(home / "kubeconfig", TOKEN)
    command = Command(BIN / "kubectl", home)
    chart = shutil.copytree(CHART, home / "dns-api")
    lines = (chart / "Chart.yaml").read_text(encoding="utf-8").splitlines()
    (chart / "Chart.yaml").write_text("\n".join(line for line in lines if not line.startswith("kubeVersion")))
    command.ok("create", "namespace", NAMESPACE)
    command.ok("apply", "--server-side", "-f", str(chart / "crds"))
    command.ok("wait", "--for=condition=Established", "crd", "--all", "--timeout=20s")
    kept = [
        each
        for each in render(*SETTINGS)
        if not each["apiVersion"].startswith(("cert-manager.io", "admissionregistration", "apiregistration"))
    ]
    command.ok("apply", "--server-side", "-f", "-", stdin=yaml.safe_dump_all(kept))
    yield command
    command.ok("delete", "deployment", "--all", "-n", NAMESPACE)


def test_a_zone_is_served_and_taken_away_with_the_rights_of_the_chart(kubectl: Command, tmp_path: Path) -> None:
    manifests, dns_port = render(*SETTINGS), free_port()
    announce(kubectl, dns_port, ELSEWHERE)
    managers, servers = manager_words(manifests, tmp_path, URL), server_words(manifests, tmp_path, URL, dns_port)
    for component in ("manager", "server"):
        token = kubectl.ok("create", "token", f"dns-api-{component}", "-n", NAMESPACE).strip()
        write_configuration(tmp_path / f"{component}-kubeconfig", token)
    environment = {"HOME": str(tmp_path), "POD_NAME": "manager-0", "POD_NAMESPACE": NAMESPACE}
    with (
        started(*managers, environment=environment) as manager,
        started(*servers, environment={"HOME": str(tmp_path)}) as server,
    ):
        kubectl.ok("apply", "-f", str(ROOT / "examples" / "hosted"))
        kubectl.ok("wait", "--for=condition=Programmed", "zone", "--all", "--timeout=25s")
        kubectl.ok("wait", "--for=condition=Programmed", "recordset", "--all", "--timeout=25s")
        kubectl.ok("delete", "recordset", "--all", "--timeout=25s")
        kubectl.ok("delete", "zone", "--all", "--timeout=25s")
        assert kubectl.ok("get", "zoneunits,hostedzones", "-o", "name") == ""
        for process in (manager, server):
            process.send_signal(15)
            assert process.ended() == 0
            assert "orbidden" not in process.stderr.rest()
