"""The product as the chart installs it, on the embedded API: each program with its rendered arguments, behind a gate of its own.

The gate holds the program to the rights that the chart gives to its ServiceAccount. Providers talk to fakes.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from controllers.apps.endpoint.conversion_api import ConversionApi
from controllers.registry import REGISTRATIONS
from standalone.apiserver.server import ApiServer
from standalone.up.run import serve_conversions
from tests.cli.command import Process, started
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.controllers.providers.cloudflare import world as cloudflare
from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare
from tests.controllers.providers.route53 import world as route53
from tests.controllers.providers.route53.fake.server import FakeAws, serving
from tests.helm.chart import PROVIDERS, Manifest, container, only, render
from tests.helm.gate import Gate, own_loop, write_kubeconfig
from tests.helm.place import BIN, NAMESPACE
from tests.helm.rights import Right, rights_of
from tests.product.product import free_port
from tests.standalone.kubectl.command import Command

SETTINGS = (*only(*PROVIDERS), "manager.log.level=debug")
SERVER = "dns-api-server-0"
HELD = frozenset(
    {"CustomResourceDefinition", "Provider", "EndpointProviderCapability", "Service", "ServiceAccount", "ConfigMap"}
)
"""Kinds of the chart that the embedded API has and that make no difference when they stand alone."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What runs; `kubectl` goes around the gates, as a person with every right."""

    kubectl: Command
    manager: Process
    server: Process
    manager_gate: Gate
    server_gate: Gate
    dns_port: int
    http_ports: tuple[int, int]
    installed: list[Manifest]

    def metrics(self) -> tuple[str, str]:
        """Scrape the manager and the name server."""
        manager, server = (_read(f"http://127.0.0.1:{port}/metrics") for port in self.http_ports)
        return manager, server

    def apply(self, *manifests: Manifest) -> None:
        items = {"apiVersion": "v1", "kind": "List", "items": manifests}
        self.kubectl.ok("apply", "--server-side", "-f", "-", stdin=json.dumps(items))

    def wait(self, what: str, condition: str = "Programmed") -> None:
        self.kubectl.ok("wait", "--for=create", what, "--timeout=25s")
        self.kubectl.ok("wait", f"--for=condition={condition}", what, "--timeout=25s")

    def rights(self, account: str) -> frozenset[Right]:
        return rights_of(self.installed, account)


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """Install and run everything; ended with the context."""
    manifests = render(*SETTINGS)
    fake_aws, fake_cloudflare = FakeAws(), FakeCloudflare()
    fake_aws.identities.add_user(route53.KEY_ID, route53.SECRET, route53.ACCOUNT)
    fake_cloudflare.state.add_token(cloudflare.TOKEN, fake_cloudflare.state.add_account())
    with ExitStack() as stack:
        loop = stack.enter_context(own_loop())
        parts = AsyncExitStack()

        def run(make: Callable[[], Any]) -> Any:
            async def enter() -> Any:
                return await parts.enter_async_context(make())

            return asyncio.run_coroutine_threadsafe(enter(), loop).result(30)

        stack.callback(lambda: asyncio.run_coroutine_threadsafe(parts.aclose(), loop).result(30))
        stack.enter_context(serving(fake_aws))
        api: ApiServer = run(lambda: ApiServer(folder / "data"))
        conversions = [ConversionApi(each.endpoint) for each in REGISTRATIONS if each.endpoint is not None]
        loop.call_soon_threadsafe(serve_conversions, api, conversions)
        manager_gate, server_gate = (
            run(partial(Gate, api.url, rights_of(manifests, account)))
            for account in ("dns-api-manager", "dns-api-server")
        )
        run(lambda: fake_cloudflare)
        write_kubeconfig(folder / "kubeconfig", api.url)
        kubectl = Command(BIN / "kubectl", folder)
        install(kubectl, manifests)
        dns_port, *http_ports = (free_port() for _ in range(3))
        announce(kubectl, dns_port)
        environment = {
            **route53.runtime_credentials(),
            "AWS_ENDPOINT_URL": fake_aws.url,
            "CLOUDFLARE_API_URL": fake_cloudflare.url,
            "ROUTE53_CHANGE_CHECK_SECONDS": "0.1",
            "HOME": str(folder),
            "POD_NAME": "manager-0",
            "POD_NAMESPACE": NAMESPACE,
        }
        manager = stack.enter_context(
            started(*manager_words(manifests, folder, manager_gate.url, http_ports[0]), environment=environment)
        )
        server = stack.enter_context(
            started(
                *server_words(manifests, folder, server_gate.url, dns_port, http_ports[1]),
                environment={"HOME": str(folder)},
            )
        )
        manager.stderr.until("webhook.listening")
        yield Cluster(
            kubectl, manager, server, manager_gate, server_gate, dns_port, (http_ports[0], http_ports[1]), manifests
        )


def install(kubectl: Command, manifests: list[Manifest]) -> None:
    """Put into the API what the chart has and the API holds, definitions first, as helm does."""
    kubectl.ok("create", "namespace", NAMESPACE)
    crds = Path(__file__).parents[2] / "helm" / "crds"
    kubectl.ok("apply", "--server-side", "-f", str(crds))
    kubectl.ok("wait", "--for=condition=Established", "crd", "--all", "--timeout=20s")
    kept = [each for each in manifests if each["kind"] in HELD]
    kubectl.ok("apply", "--server-side", "-f", "-", stdin=yaml.safe_dump_all(kept))


def announce(kubectl: Command, dns_port: int, address: str = "127.0.0.1") -> None:
    """Say that one name server is ready, as the cluster's endpoint controller would."""
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "namespace": NAMESPACE,
            "name": "dns-api-server-1",
            "labels": {"kubernetes.io/service-name": "dns-api-server"},
        },
        "addressType": "IPv4",
        "ports": [{"name": "dns", "port": dns_port, "protocol": "UDP"}],
        "endpoints": [
            {"addresses": [address], "conditions": {"ready": True}, "targetRef": {"kind": "Pod", "name": SERVER}}
        ],
    }
    kubectl.ok("apply", "--server-side", "-f", "-", stdin=json.dumps(endpoints))


def manager_words(manifests: list[Manifest], folder: Path, url: str, http_port: int) -> list[str]:
    """Return the manager's rendered arguments, with the places of a machine instead of those of a pod."""
    certificates = folder / "certificates"
    certificates.mkdir()
    Authority().write(ServingPair(certificates), serial=1)
    places = {
        "--webhook-cert-dir": str(certificates),
        "--webhook-listen": "127.0.0.1:0",
        "--metrics-listen": f"127.0.0.1:{http_port}",
    }
    return [
        *_placed(container(manifests, "manager")["args"], places),
        f"--kubeconfig={write_kubeconfig(folder / 'manager-kubeconfig', url)}",
    ]


def server_words(manifests: list[Manifest], folder: Path, url: str, dns_port: int, http_port: int) -> list[str]:
    """Return the name server's rendered arguments, likewise."""
    places = {
        "--listen": f"127.0.0.1:{dns_port}",
        "--http": f"127.0.0.1:{http_port}",
        "--cache-dir": str(folder / "cache"),
        "--name": SERVER,
        "--drain-delay": "0",
    }
    return [
        *_placed(container(manifests, "server")["args"], places),
        f"--kubeconfig={write_kubeconfig(folder / 'server-kubeconfig', url)}",
    ]


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return str(answer.read(), "utf-8")


def _placed(words: list[str], places: dict[str, str]) -> list[str]:
    options = [each.partition("=")[0] for each in words]
    return [
        f"{option}={places[option]}" if option in places else each for option, each in zip(options, words, strict=True)
    ]
