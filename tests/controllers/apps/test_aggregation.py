"""The conversion APIs on the webhook server: for the API server's front proxy, and nobody else."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from controllers.apps.endpoint.aggregation import Aggregation
from controllers.apps.endpoint.conversion_api import ConversionApi
from controllers.apps.endpoint.front_proxy import CONFIG_MAPS, NAME, NAMESPACE, front_proxy_informer, trust
from controllers.apps.endpoint.installation import api_service
from controllers.core.admission.certificate import ServingCertificate
from controllers.core.admission.handler import Admission
from controllers.core.admission.lookup import NoLookups
from controllers.core.admission.server import WebhookServer
from controllers.providers.hosted.endpoint import ENDPOINT as HOSTED
from controllers.providers.route53.endpoint import ENDPOINT as ROUTE53
from kube.access import Access
from kube.client import Client
from standalone.apiserver.server import ApiServer
from tests.controllers.core.admission.authority import Authority, ServingPair

GROUP = "/apis/endpoint.hosted.dns.appthrust.io"
PATH = f"{GROUP}/v1alpha1/endpointrecordsetconversions"
USER = {"X-Remote-User": "system:serviceaccount:dns-api-system:dns-api"}
QUESTION: dict[str, Any] = {
    "apiVersion": "endpoint.hosted.dns.appthrust.io/v1alpha1",
    "kind": "EndpointRecordSetConversion",
    "metadata": {},
    "spec": {
        "uid": "one",
        "input": {
            "hostname": "app.example.test",
            "name": "app",
            "zone": {"domainName": "example.test"},
            "targets": [{"type": "IPAddress", "value": "192.0.2.1"}],
        },
    },
}


class Cluster:
    """An API server that publishes its front proxy's authority, and a webhook server with conversion APIs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.serving, self.proxies = Authority(), Authority()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Cluster:
        pair = ServingPair(self.folder)
        self.serving.write(pair, serial=2)
        certificate = ServingCertificate(pair.certificate, pair.key)
        api = await self._stack.enter_async_context(ApiServer(self.folder / "data"))
        self.client = await self._stack.enter_async_context(Client(Access(api.url)))
        informer = front_proxy_informer(self.client)
        trust(informer, certificate.ask_clients)
        task = asyncio.create_task(informer.run())
        self._stack.callback(task.cancel)
        await informer.synced.wait()
        mounts = [Aggregation([ConversionApi(HOSTED), ConversionApi(ROUTE53)], informer).mount]
        hooks = Admission(NoLookups()).hooks()
        server = WebhookServer(hooks, certificate, host="127.0.0.1", port=0, mounts=mounts)
        self.server = await self._stack.enter_async_context(server)
        self.informer = informer
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def publish(self, *names: str) -> None:
        """Publish the authority as kube-apiserver does."""
        quoted = ", ".join(f'"{each}"' for each in names)
        data = {
            "requestheader-client-ca-file": self.proxies.pem.decode(),
            "requestheader-allowed-names": f"[{quoted}]",
            "requestheader-username-headers": '["X-Remote-User"]',
        }
        metadata = {"namespace": NAMESPACE, "name": NAME}
        await self.client.apply(
            CONFIG_MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        )
        async with asyncio.timeout(60):
            while not list(self.informer.items()):  # noqa: ASYNC110 - only the cache knows
                await asyncio.sleep(0.01)

    def identity(self, name: str | None, authority: Authority | None = None) -> ssl.SSLContext:
        """Return what a client connects with: a certificate for `name`, or none."""
        context = self.serving.client_context()
        if name is not None:
            pair = ServingPair(self.folder / f"client-{name}")
            pair.directory.mkdir(exist_ok=True)
            (authority or self.proxies).write(pair, serial=3, host=name)
            context.load_cert_chain(pair.certificate, pair.key)
        return context

    async def ask(
        self,
        context: ssl.SSLContext,
        method: str = "POST",
        path: str = PATH,
        body: Any = QUESTION,
        headers: dict[str, str] = USER,
    ) -> tuple[int, dict[str, Any]]:
        url = f"https://localhost:{self.server.port}{path}"
        connector = aiohttp.TCPConnector(ssl=context)
        async with aiohttp.ClientSession(connector=connector) as session:
            sent = body if method == "POST" else None
            async with session.request(method, url, json=sent, headers=headers) as answer:
                return answer.status, await answer.json()


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with Cluster(tmp_path) as found:
        yield found


async def test_the_front_proxy_is_answered(cluster: Cluster) -> None:
    await cluster.publish("front-proxy-client")
    status, answer = await cluster.ask(cluster.identity("front-proxy-client"))
    assert status == 201
    assert answer["status"]["uid"] == "one"
    assert [each["type"] for each in answer["status"]["output"]["fragments"]] == ["A"]


async def test_everybody_else_is_nobody(cluster: Cluster) -> None:
    status, _ = await cluster.ask(cluster.identity(None))
    assert status == 401, "before the authority is known"
    await cluster.publish("front-proxy-client")
    assert (await cluster.ask(cluster.identity(None)))[0] == 401, "without a certificate"
    assert (await cluster.ask(cluster.identity("somebody")))[0] == 401, "a name that is not allowed"
    proxy = cluster.identity("front-proxy-client")
    assert (await cluster.ask(proxy, headers={}))[0] == 401, "without a user"
    assert (await cluster.ask(proxy, method="GET", path="/apis", headers={}))[0] == 401
    with pytest.raises(aiohttp.ClientError):
        await cluster.ask(cluster.identity("front-proxy-client", Authority()))


async def test_without_allowed_names_every_certificate_of_the_authority_will_do(cluster: Cluster) -> None:
    await cluster.publish()
    assert (await cluster.ask(cluster.identity("any")))[0] == 201


async def test_admission_needs_no_client_certificate_all_the_same(cluster: Cluster) -> None:
    await cluster.publish("front-proxy-client")
    path = "/validate/dns.appthrust.io/v1alpha1/recordsets"
    url = f"https://localhost:{cluster.server.port}{path}"
    connector = aiohttp.TCPConnector(ssl=cluster.identity(None))
    async with aiohttp.ClientSession(connector=connector) as session, session.post(url, json={}) as answer:
        assert answer.status == 400


async def test_discovery_tells_the_api_server_what_is_served(cluster: Cluster) -> None:
    await cluster.publish()
    proxy = cluster.identity("any")
    _, groups = await cluster.ask(proxy, "GET", "/apis")
    assert [each["name"] for each in groups["groups"]] == [
        "endpoint.hosted.dns.appthrust.io",
        "endpoint.route53.dns.appthrust.io",
    ]
    _, resources = await cluster.ask(proxy, "GET", f"{GROUP}/v1alpha1")
    (resource,) = resources["resources"]
    assert (resource["name"], resource["verbs"], resource["namespaced"]) == (
        "endpointrecordsetconversions",
        ["create"],
        False,
    )
    accept = {**USER, "Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    _, aggregated = await cluster.ask(proxy, "GET", "/apis", headers=accept)
    assert aggregated["items"][0]["versions"][0]["resources"][0]["verbs"] == ["create"]


@pytest.mark.parametrize(
    ("method", "path"), [("GET", PATH), ("DELETE", PATH), ("GET", f"{PATH}/one"), ("PUT", f"{PATH}/one")]
)
async def test_conversions_are_created_only(cluster: Cluster, method: str, path: str) -> None:
    await cluster.publish()
    assert (await cluster.ask(cluster.identity("any"), method, path))[0] == 405


async def test_a_malformed_question_is_refused_with_its_faults(cluster: Cluster) -> None:
    await cluster.publish()
    proxy = cluster.identity("any")
    spec = {**QUESTION["spec"], "input": {"hostname": "app.example.test", "name": "app", "targets": []}}
    status, answer = await cluster.ask(proxy, body={**QUESTION, "spec": spec})
    assert status == 422
    assert {each["field"] for each in answer["details"]["causes"]} == {"spec.input.zone", "spec.input.targets"}
    assert (await cluster.ask(proxy, body={**QUESTION, "kind": "Other"}))[0] == 422
    assert (await cluster.ask(proxy, body=[1]))[0] == 400


def test_the_api_service_leads_to_the_webhook_service() -> None:
    service = api_service(HOSTED)
    assert service["metadata"]["name"] == "v1alpha1.endpoint.hosted.dns.appthrust.io"
    assert service["spec"]["service"] == {"namespace": "dns-api-system", "name": "dns-api-webhook-service", "port": 443}
