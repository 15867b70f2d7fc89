"""The product on a real control plane, with the face of `dns-api up` that tests know: the chart, one manager, one name server.

Manager and name server are processes with the arguments of the chart, each under its own ServiceAccount; the API server calls the
manager's webhooks and conversions over TLS. To kill the product is to kill all of it, the control plane too.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from kube.client import Client
from kube.config import connect
from standalone.up.config import SERVER_NAME
from standalone.up.install import announce_server
from tests.cluster.audit import fresh_log
from tests.cluster.control_plane import START_S, ControlPlane, free_ports
from tests.cluster.installation import Installation, host_address
from tests.cluster.program import Program
from tests.helm.place import NAMESPACE
from tests.product.patience import until
from tests.product.product import Product

ENTRY: Final = (sys.executable, "-m", "cli.main")
MANAGER: Final = "manager-0"
ONLY_UP: Final = frozenset({"--route53", "--cloudflare", "--external"})
"""Options of `up` that the chart's values are for: everything is on."""

Before = Callable[[Client], Awaitable[None]]


class ClusterProduct(Product):
    """`options` are those of `up`, of which the manager gets what it knows; `before` writes what no admission has judged;
    `installation` is how the chart gets there."""

    def __init__(
        self,
        folder: Path,
        programs: Path,
        *,
        options: Sequence[str] = (),
        before: Before | None = None,
        installation: Callable[[ControlPlane], Installation] = Installation,
    ) -> None:
        super().__init__(folder, options=options)
        self.data_dir.mkdir()
        self.plane = ControlPlane(programs, self.data_dir, fresh_log())
        self.log = folder / "manager.log"
        self.api_port = self.plane.port
        self._before = before
        self._installation = installation
        self._programs: list[Program] = []

    @property
    def api_url(self) -> str:
        return self.plane.url

    @property
    def pid(self) -> int:
        """The manager's."""
        return self._programs[0].pid

    def start(self) -> None:
        """Start everything and wait until it works; what is installed already stays as it is."""
        self.plane.start()
        if not self._programs:
            self._install()
        self.start_programs()

    def start_programs(self) -> None:
        """Start manager and name server, and wait until they work."""
        for each in self._programs:
            each.start()
        until(self._works, "a manager and a name server that work", START_S)

    def end_programs(self) -> None:
        """End manager and name server in order; the control plane stays."""
        for each in reversed(self._programs):
            each.end()

    def replace_manager(self, entry: Sequence[str], *further: str) -> None:
        """Have the manager be another program, with the same arguments and further ones, under the same name."""
        self._programs[0].end()
        words = [sys.executable, *entry, *self._manager_words, *further]
        self._programs[0] = Program(words, self.log, self._environment)
        self._programs[0].start()
        until(self._works, "a manager that works", START_S)

    def complaints(self) -> str:
        return "".join(each.complaints() for each in self._programs)

    def _install(self) -> None:
        self._installed = self._installation(self.plane)
        self._installed.install()
        self.join()

    def join(self) -> None:
        """Have manager and name server belong to what is installed, by its Services and by tokens of its ServiceAccounts."""
        installation = self._installed
        with ThreadPoolExecutor(1) as thread:  # a test may have a loop of its own here
            thread.submit(asyncio.run, self._announce()).result()
        installation.admit()
        webhook_port, http_port = free_ports(2)
        self._http_port = http_port
        installation.announce_webhooks(webhook_port)
        words = [each for each in self._options if each not in ONLY_UP]
        self._manager_words = [*installation.manager_words(MANAGER, webhook_port), *words]
        servers = installation.server_words(SERVER_NAME, self.dns.port, http_port, self.data_dir / "snapshots")
        self._environment = {"POD_NAME": MANAGER, "POD_NAMESPACE": NAMESPACE}
        folder = self.log.parent
        self._programs = [
            Program([*ENTRY, *self._manager_words], self.log, self._environment),
            Program([*ENTRY, *servers], folder / "server.log"),
        ]

    async def _announce(self) -> None:
        async with connect(self.kubeconfig, field_manager="test") as client:
            await announce_server(client, host_address(), self.dns.port)
            if self._before is not None:
                await self._before(client)

    def _works(self) -> bool:
        for each in self._programs:
            each.assert_running()
        return self._leads() and self._serves()

    def _leads(self) -> bool:
        try:
            lease = self.plane.request(
                "GET", f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/dns-api-manager"
            )
        except urllib.error.HTTPError as error:
            with error:
                return False
        return bool(lease["spec"].get("holderIdentity") == MANAGER) and self._answers_webhooks()

    def _answers_webhooks(self) -> bool:
        """Ask the API server whether it gets through, by its own check of the aggregated APIs."""
        services = self.plane.request("GET", "/apis/apiregistration.k8s.io/v1/apiservices")["items"]
        ours = [each for each in services if each["spec"].get("service")]
        return all(
            any(
                (condition["type"], condition["status"]) == ("Available", "True")
                for condition in each.get("status", {}).get("conditions", ())
            )
            for each in ours
        )

    def _serves(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._http_port}/readyz", timeout=5):
                return True
        except OSError:
            return False

    def _end(self, how: str) -> None:
        signum = signal.SIGKILL if how == "kill" else signal.SIGTERM
        for each in reversed(self._programs):
            each.end(signum)
        if how == "kill":
            self.plane.kill()
        else:
            self.plane.stop()
