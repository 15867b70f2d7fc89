"""The product as a cluster runs it: API server, managers and name servers as processes of their own, each killed as a test likes.

The API is the embedded one on a data directory that outlives its process, or a real control plane with the chart. Nothing judges claims
when they are written: that is the cluster whose webhook is down and lets everything in.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import urllib.request
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from controllers.api.group import ENDPOINT_SLICES, NAMESPACES
from kube.client import Client
from kube.config import connect
from kube.lease import LEASES
from standalone.up.config import SERVER_NAME, SERVER_SERVICE, SYSTEM_NAMESPACE
from standalone.up.install import announce_server, install
from standalone.up.kubeconfig import write_kubeconfig
from tests.cluster.audit import fresh_log
from tests.cluster.control_plane import ControlPlane, programs
from tests.cluster.installation import Installation, host_address
from tests.cluster.program import Program
from tests.product.availability import small_history
from tests.product.lone_server import LoneServer
from tests.product.patience import until
from tests.product.product import free_port

LEASE = "dns-api-manager"
API = "standalone.apiserver"
HOSTED_ONLY = ("--hosted-controller-enabled", "--no-route53-controller-enabled", "--no-cloudflare-controller-enabled")


class Embedded:
    """The embedded API as a process; `module` is what is run."""

    address = "127.0.0.1"

    def __init__(self, folder: Path, module: str) -> None:
        self._folder = folder
        self.port = free_port()
        self.kubeconfig = folder / "kubeconfig"
        write_kubeconfig(self.kubeconfig, self._url(self.port))
        words = [sys.executable, "-m", module, "--data-dir", str(folder / "data"), "--port", str(self.port)]
        self._program = Program(words, folder / "api.log")

    def start(self) -> None:
        self._program.start()
        until(self._answers, "an answer of the API")

    def end(self, signum: int) -> None:
        self._program.end(signum)

    def stop(self) -> None:
        self._program.end()

    async def install(self, client: Client) -> None:
        """Put everything into the API that the product needs there."""
        await install(client)

    async def forget_history(self, client: Client) -> None:
        """Write more than the API keeps for watches that resume."""
        for number in range(2 * small_history.EVENTS):
            await touch_namespace(client, number)

    def manager_words(self, name: str, port: int | None) -> list[str]:
        return ["manager", "--kubeconfig", str(self._kubeconfig_by(name, port))]

    def server_words(self, name: str) -> list[str]:
        return ["--kubeconfig", str(self.kubeconfig), "--name", name]

    def _kubeconfig_by(self, name: str, port: int | None) -> Path:
        path = self._folder / f"{name}.kubeconfig"
        write_kubeconfig(path, self._url(port or self.port))
        return path

    def _answers(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"{self._url(self.port)}/readyz", timeout=5) as reply:
            return bool(reply.status == 200)
        return False

    @staticmethod
    def _url(port: int) -> str:
        return f"http://127.0.0.1:{port}"


class Real:
    """A control plane with the chart on it; managers and name servers have the rendered arguments and their ServiceAccounts."""

    def __init__(self, folder: Path, folder_of_programs: Path) -> None:
        home = folder / "plane"
        home.mkdir()
        self.plane = ControlPlane(folder_of_programs, home, fresh_log())
        self.installation = Installation(self.plane)
        self.address = host_address()
        self.port = self.plane.port
        self.kubeconfig = self.plane.kubeconfig
        self._has_begun = False

    def start(self) -> None:
        if self._has_begun:
            self.plane.start_api()
        else:
            self._has_begun = True
            self.plane.start()

    def end(self, signum: int) -> None:
        """End the API server; etcd goes on."""
        self.plane.api.end(signum)

    def stop(self) -> None:
        self.plane.stop()

    async def install(self, client: Client) -> None:
        await asyncio.to_thread(self.installation.install)

    async def forget_history(self, client: Client) -> None:
        """Have etcd forget what was, and the API server what it kept of it."""
        await touch_namespace(client, 1)
        await asyncio.to_thread(self.plane.compact)
        await asyncio.to_thread(self.plane.api.end, signal.SIGKILL)
        await asyncio.to_thread(self.plane.start_api)

    def manager_words(self, name: str, port: int | None) -> list[str]:
        return self.installation.manager_words(name, None, api_port=port)

    def server_words(self, name: str) -> list[str]:
        path = self.plane.folder / f"{name}.kubeconfig"
        self.plane.write_kubeconfig(path, self.plane.account_token(SYSTEM_NAMESPACE, "dns-api-server"))
        return ["--kubeconfig", str(path), "--name", name]


class Cluster:
    """One API, its name server `dns-api-up`, and managers by name. Use `running`."""

    def __init__(self, folder: Path, manager_words: Sequence[str], environment: dict[str, str], api: str) -> None:
        self.folder = folder
        real = programs()
        self.api: Embedded | Real = Embedded(folder, api) if real is None else Real(folder, real)
        self.managers: dict[str, Program] = {}
        self._words = tuple(manager_words)
        self._environment = environment
        self._servers: list[LoneServer] = []

    @property
    def server(self) -> LoneServer:
        """The first name server."""
        return self._servers[0]

    def start_server(self, name: str) -> LoneServer:
        """Run a name server; nobody is told of it."""
        folder = self.folder / name
        folder.mkdir()
        server = LoneServer(folder, *self.api.server_words(name))
        self._servers.append(server)
        server.start()
        return server

    def start_manager(
        self,
        name: str,
        *,
        api_port: int | None = None,
        entry: Sequence[str] = ("-m", "cli.main"),
        words: Sequence[str] | None = None,
    ) -> None:
        """Run a manager, whose API is behind a port of its own when one is given."""
        own = self.api.manager_words(name, api_port) if words is None else words
        environment = self._environment | {"POD_NAME": name, "POD_NAMESPACE": SYSTEM_NAMESPACE}
        line = [sys.executable, *entry, *own, *self._words]
        self.managers[name] = Program(line, self.folder / f"{name}.log", environment)
        self.managers[name].start()

    def connect(self) -> Client:
        return connect(self.api.kubeconfig, field_manager="test")

    def complaints(self) -> str:
        return "".join(each.complaints() for each in self.managers.values())

    def stop(self) -> None:
        for manager in self.managers.values():
            manager.end()
        for server in self._servers:
            server.kill()
        self.api.stop()


@asynccontextmanager
async def running(
    folder: Path, words: Sequence[str] = HOSTED_ONLY, environment: dict[str, str] | None = None, api: str = API
) -> AsyncIterator[Cluster]:
    """Run API and name server, installed and announced; a test starts its managers."""
    cluster = Cluster(folder, words, environment or {}, api)
    try:
        await asyncio.to_thread(cluster.api.start)
        async with cluster.connect() as client:
            await cluster.api.install(client)
            await asyncio.to_thread(cluster.start_server, SERVER_NAME)
            await announce_server(client, cluster.api.address, cluster.server.dns.port)
        yield cluster
    finally:
        await asyncio.to_thread(cluster.stop)


async def touch_namespace(client: Client, number: int) -> None:
    """Write something that nobody heeds."""
    await client.patch_merge(NAMESPACES, {"metadata": {"annotations": {"number": str(number)}}}, name=SYSTEM_NAMESPACE)


async def announce(cluster: Cluster, client: Client, servers: dict[str, int]) -> None:
    """Name all ready name servers, with their ports, as the cluster's Service would; one slice for each port."""
    for name, port in servers.items():
        endpoint = {
            "addresses": [cluster.api.address],
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
