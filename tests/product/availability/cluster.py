"""The product as a cluster runs it: API server, managers and name servers as processes of their own, each killed as a test likes.

The API is the embedded one, on a data directory that outlives its process. Nothing judges claims when they are written: that is
the cluster whose webhook is down and lets everything in.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from controllers.api.group import ENDPOINT_SLICES
from kube.client import Client
from kube.config import connect
from kube.lease import LEASES
from standalone.up.config import SERVER_NAME, SERVER_SERVICE, SYSTEM_NAMESPACE
from standalone.up.install import announce_server, install
from standalone.up.kubeconfig import write_kubeconfig
from tests.product.lone_server import LoneServer
from tests.product.patience import until
from tests.product.product import ROOT, free_port

LEASE = "dns-api-manager"
END_S = 30.0
API = "standalone.apiserver"
HOSTED_ONLY = ("--hosted-controller-enabled", "--no-route53-controller-enabled", "--no-cloudflare-controller-enabled")


class Process:
    """One process, started again with the same words."""

    def __init__(self, words: Sequence[str], log: Path, environment: dict[str, str]) -> None:
        self.log = log
        self._words = [sys.executable, *words]
        self._environment = os.environ | environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._words, cwd=ROOT, stdout=log, stderr=log, env=self._environment)

    def end(self, signum: int = signal.SIGTERM) -> None:
        """End it in order, or by SIGKILL as a power failure would."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signum)
            process.wait(END_S)

    def complaints(self) -> str:
        """What it logged about faults of its own."""
        text = self.log.read_text() if self.log.exists() else ""
        return "\n".join(line for line in text.splitlines() if "Traceback" in line or '"level": "error"' in line)


class Cluster:
    """One API, its name server `dns-api-up`, and managers by name. Use `running`."""

    def __init__(self, folder: Path, manager_words: Sequence[str], environment: dict[str, str], api: str) -> None:
        self.folder = folder
        self.api_port = free_port()
        self.kubeconfig = folder / "kubeconfig"
        write_kubeconfig(self.kubeconfig, f"http://127.0.0.1:{self.api_port}")
        words = ["-m", api, "--data-dir", str(folder / "data"), "--port", str(self.api_port)]
        self.api = Process(words, folder / "api.log", {})
        self.server = LoneServer(folder, "--kubeconfig", str(self.kubeconfig), "--name", SERVER_NAME)
        self.managers: dict[str, Process] = {}
        self._words = tuple(manager_words)
        self._environment = environment

    def start_api(self) -> None:
        self.api.start()
        until(self._api_answers, "an answer of the API")

    def start_manager(
        self, name: str, *, api_port: int | None = None, entry: Sequence[str] = ("-m", "cli.main")
    ) -> None:
        """Run a manager, whose API is behind a port of its own when one is given."""
        kubeconfig = self.kubeconfig
        if api_port is not None:
            kubeconfig = self.folder / f"{name}.kubeconfig"
            write_kubeconfig(kubeconfig, f"http://127.0.0.1:{api_port}")
        words = [*entry, "manager", "--kubeconfig", str(kubeconfig), *self._words]
        environment = self._environment | {"POD_NAME": name, "POD_NAMESPACE": SYSTEM_NAMESPACE}
        self.managers[name] = Process(words, self.folder / f"{name}.log", environment)
        self.managers[name].start()

    def connect(self) -> Client:
        return connect(self.kubeconfig, field_manager="test")

    def complaints(self) -> str:
        return "".join(each.complaints() for each in self.managers.values())

    def stop(self) -> None:
        for each in self.managers.values():
            each.end()
        self.server.kill()
        self.api.end()

    def _api_answers(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.api_port}/readyz", timeout=5) as reply:
            return bool(reply.status == 200)
        return False


@asynccontextmanager
async def running(
    folder: Path, words: Sequence[str] = HOSTED_ONLY, environment: dict[str, str] | None = None, api: str = API
) -> AsyncIterator[Cluster]:
    """Run API and name server, installed and announced; a test starts its managers."""
    cluster = Cluster(folder, words, environment or {}, api)
    try:
        await asyncio.to_thread(cluster.start_api)
        async with cluster.connect() as client:
            await install(client)
            await announce_server(client, cluster.server.dns.host, cluster.server.dns.port)
        await asyncio.to_thread(cluster.server.start)
        yield cluster
    finally:
        await asyncio.to_thread(cluster.stop)


async def announce(client: Client, servers: dict[str, int]) -> None:
    """Name all ready name servers, with their ports, as the cluster's Service would; one slice for each port."""
    for name, port in servers.items():
        endpoint = {
            "addresses": ["127.0.0.1"],
            "conditions": {"ready": True},
            "targetRef": {"kind": "Pod", "namespace": SYSTEM_NAMESPACE, "name": name},
        }
        slice_ = {
            "apiVersion": ENDPOINT_SLICES.api_version,
            "kind": ENDPOINT_SLICES.kind,
            "metadata": {
                "namespace": SYSTEM_NAMESPACE,
                "name": f"{SERVER_SERVICE}-{name}",
                "labels": {"kubernetes.io/service-name": SERVER_SERVICE},
            },
            "addressType": "IPv4",
            "endpoints": [endpoint],
            "ports": [{"name": "dns", "port": port, "protocol": "UDP"}],
        }
        await client.apply(ENDPOINT_SLICES, slice_, manager="test", force=True)


async def leader(client: Client, accepts: Callable[[str], bool] = bool, limit_s: float = 30.0) -> str:
    """Follow the Lease until its holder is one that is accepted, and return it."""
    async with asyncio.timeout(limit_s):
        listing = await client.list(LEASES, namespace=SYSTEM_NAMESPACE)
        for obj in listing.items:
            if accepts(holder := obj["spec"].get("holderIdentity") or ""):
                return holder
        events = client.watch(LEASES, resource_version=listing.resource_version, namespace=SYSTEM_NAMESPACE)
        async for event in events:
            if event.object.get("spec") and accepts(holder := event.object["spec"].get("holderIdentity") or ""):
                return holder
    raise AssertionError("the watch of Leases has ended")
