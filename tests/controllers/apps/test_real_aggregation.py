"""The conversion APIs behind the aggregation layer of a real kube-apiserver, with the rights that the chart gives.

Needs the programs of a control plane: DNS_API_KUBE_PROGRAMS.
"""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controllers.providers.hosted.endpoint import ENDPOINT as HOSTED
from controllers.registry import REGISTRATIONS
from tests.cluster.control_plane import ControlPlane, programs
from tests.cluster.installation import WEBHOOK_SERVICE
from tests.cluster.product import ClusterProduct
from tests.controllers.apps.test_aggregation import PATH, QUESTION
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.helm.place import BIN, NAMESPACE
from tests.product.patience import until
from tests.standalone.kubectl.command import Command

pytestmark = pytest.mark.skipif(programs() is None, reason="needs a real control plane: DNS_API_KUBE_PROGRAMS")

ALLOWED, STRANGER = "asker", "stranger"
HEADERS = {"Content-Type": "application/json", "X-Remote-User": "system:admin", "X-Remote-Group": "system:masters"}
GROUP = HOSTED.resource.group
API_SERVICE = f"v1alpha1.{GROUP}"
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": ALLOWED},
    "rules": [{"apiGroups": [GROUP], "resources": [HOSTED.resource.plural], "verbs": ["create"]}],
}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": ALLOWED},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ALLOWED},
    "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": ALLOWED}],
}


class Real:
    """A control plane with the product on it, and two ServiceAccounts: one that may ask for conversions, one that may not."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.kubectl = Command(BIN / "kubectl", plane.folder)
        for name in (ALLOWED, STRANGER):
            self.kubectl.ok("create", "serviceaccount", name)
        for manifest in (ROLE, BINDING):
            self.kubectl.ok("apply", "--server-side", "-f", "-", stdin=json.dumps(manifest))

    def ask_as(self, account: str, method: str = "POST", path: str = PATH) -> tuple[int, Any]:
        """Ask through the API server, as a pod with a ServiceAccount does."""
        token = self.plane.account_token("default", account)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        trust = ssl.create_default_context(cadata=self.plane.ca_pem.decode())
        return send(f"{self.plane.url}{path}", headers, trust, method)

    def ask_directly(self, certificate: ServingPair | None) -> tuple[int, Any]:
        """Ask the manager itself, with the headers that the front proxy sends."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if certificate is not None:
            context.load_cert_chain(certificate.certificate, certificate.key)
        return send(f"https://{self.manager()}{PATH}", HEADERS, context)

    def manager(self) -> str:
        found = self.kubectl.json(
            "get", "endpointslices", "-n", NAMESPACE, "-l", f"kubernetes.io/service-name={WEBHOOK_SERVICE}"
        )["items"][0]
        return f"{found['endpoints'][0]['addresses'][0]}:{found['ports'][0]['port']}"

    def available(self, name: str) -> bool:
        conditions = self.kubectl.json("get", "apiservice", name).get("status", {}).get("conditions", ())
        return any((each["type"], each["status"]) == ("Available", "True") for each in conditions)

    def reason(self, hostname: str) -> str:
        found = self.kubectl.json("get", "endpointrecordset", "one").get("status", {}).get("hostnames", ())
        told = [each["conditions"][0] for each in found if each["hostname"] == hostname]
        return told[0]["reason"] if told else ""

    def apply(self, manifest: dict[str, Any]) -> None:
        self.kubectl.ok("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(manifest))


def send(url: str, headers: dict[str, str], trust: ssl.SSLContext, method: str = "POST") -> tuple[int, Any]:
    data = json.dumps(QUESTION).encode() if method == "POST" else None
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, context=trust, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    found = programs()
    assert found is not None, "the tests are skipped without it"
    product = ClusterProduct(tmp_path_factory.mktemp("real"), found)
    try:
        product.start()
        yield Real(product.plane)
    finally:
        product.stop()
    assert product.complaints() == ""


def test_every_provider_that_converts_is_available(real: Real) -> None:
    wanted = {each.endpoint.resource for each in REGISTRATIONS if each.endpoint is not None}
    assert len(wanted) == 4
    for ref in wanted:
        until(partial(real.available, f"{ref.version}.{ref.group}"), f"an available {ref.group}")
        discovered = real.kubectl.ok("api-resources", "--api-group", ref.group, "--no-headers", "-o", "name")
        assert discovered.split() == [f"{ref.plural}.{ref.group}"]


def test_who_may_create_conversions_is_answered(real: Real) -> None:
    status, answer = real.ask_as(ALLOWED)
    assert status == 201
    assert (answer["kind"], answer["status"]["uid"]) == ("EndpointRecordSetConversion", "one")
    assert answer["status"]["output"]["fragments"][0]["a"] == {"addresses": ["192.0.2.1"]}


def test_who_may_not_is_refused_by_the_api_server(real: Real) -> None:
    status, answer = real.ask_as(STRANGER)
    assert (status, answer["reason"]) == (403, "Forbidden")
    assert f"system:serviceaccount:default:{STRANGER}" in answer["message"]


def test_nothing_but_creation_is_served(real: Real) -> None:
    assert real.ask_as(ALLOWED, "GET")[0] == 403, "the role lets it create only"
    refused = real.kubectl.fails("get", f"{HOSTED.resource.plural}.{GROUP}")
    assert "MethodNotAllowed" in refused or "does not allow this method" in refused, refused


def test_the_manager_answers_the_front_proxy_and_nobody_else(real: Real, tmp_path: Path) -> None:
    """The certificate of the connection is what counts: headers are what anybody can send."""
    assert real.ask_directly(None)[0] == 401
    proxy = ServingPair(real.plane.folder / "front-proxy")
    assert real.ask_directly(proxy)[0] == 201
    forged = ServingPair(tmp_path)
    Authority().write(forged, 5, "front-proxy-client")
    with pytest.raises((urllib.error.URLError, ssl.SSLError, ConnectionError)):
        real.ask_directly(forged)


def test_an_endpoint_is_published_and_kept_while_the_api_is_away(real: Real) -> None:
    endpoint = {
        "apiVersion": "endpoint.dns.appthrust.io/v1alpha1",
        "kind": "EndpointRecordSet",
        "metadata": {"name": "one", "namespace": "default"},
        "spec": {"hostnames": ["app.example.test"], "targets": [{"type": "IPAddress", "value": "192.0.2.1"}]},
    }
    zone = {
        "apiVersion": "dns.appthrust.io/v1alpha1",
        "kind": "Zone",
        "metadata": {"name": "zone", "namespace": "default"},
        "spec": {
            "domainName": "example.test",
            "zoneClassRef": {"name": "hosted"},
            "provider": HOSTED.provider.dump(),
        },
    }
    real.apply(zone)
    real.apply(endpoint)
    until(lambda: real.reason("app.example.test") == "Resolved", "a hostname that is resolved")
    before = real.kubectl.json("get", "recordsets")["items"]
    assert [each["spec"]["a"]["addresses"] for each in before] == [["192.0.2.1"]]
    break_service(real, 444)
    until(lambda: not real.available(API_SERVICE), "an API service that is not available")
    endpoint["spec"] = {"hostnames": ["app.example.test"], "targets": [{"type": "IPAddress", "value": "192.0.2.2"}]}
    real.apply(endpoint)
    unavailable = "EndpointRecordSetConversionUnavailable"
    until(lambda: real.reason("app.example.test") == unavailable, "a hostname in doubt")
    after = real.kubectl.json("get", "recordsets")["items"]
    assert [each["spec"] for each in after] == [each["spec"] for each in before]
    break_service(real, 443)
    until(lambda: real.reason("app.example.test") == "Resolved", "a hostname that is resolved again", 60)
    after = real.kubectl.json("get", "recordsets")["items"]
    assert [each["spec"]["a"]["addresses"] for each in after] == [["192.0.2.2"]]
    assert [each["metadata"]["uid"] for each in after] == [each["metadata"]["uid"] for each in before]


def break_service(real: Real, port: int) -> None:
    patch = json.dumps({"spec": {"service": {"port": port}}})
    real.kubectl.ok("patch", "apiservice", API_SERVICE, "--type=merge", "-p", patch)
