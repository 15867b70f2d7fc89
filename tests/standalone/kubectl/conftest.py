"""One API server for all tests of this folder, and a namespace of its own for each test.

KUBE_TARGET=/path/to/kubeconfig aims the tests at another API server, to tell whether they hold for Kubernetes itself.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from standalone.apiserver.server import ApiServer
from tests.standalone.kubectl.command import Command
from tests.standalone.kubectl.crontab import DEFINITION
from tests.tools import kubectl as binaries

TARGET = os.environ.get("KUBE_TARGET")
_KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "%s"}}]
users: [{name: test, user: {}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
current-context: test
"""
_run = secrets.token_hex(3)
_counter = itertools.count(1)


@pytest.fixture(scope="session")
def bin_dir() -> Path:
    """Where the environment's own kubectl and helm are; fetched when the set-up did not."""
    directory = Path(sys.prefix) / "bin"
    binaries.install(directory)
    return directory


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """How the server is reached: no credentials for the embedded one, whatever KUBE_TARGET says for another."""
    if TARGET is not None:
        yield Path(TARGET).read_text()
        return
    with _embedded_server(tmp_path_factory.mktemp("api-server")) as url:
        yield _KUBECONFIG % url


@contextmanager
def _embedded_server(data_dir: Path) -> Iterator[str]:
    """A running server. It has a thread of its own because the tests block on the programs they run."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="api-server", daemon=True)
    thread.start()
    server = ApiServer(data_dir)
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(30)
        yield server.url
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


@pytest.fixture(scope="session")
def home(kubeconfig: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory with that kubeconfig and nothing else."""
    directory = tmp_path_factory.mktemp("home")
    (directory / "kubeconfig").write_text(kubeconfig)
    return directory


@pytest.fixture(scope="session")
def cluster(bin_dir: Path, home: Path) -> Command:
    """kubectl with the test's custom resource definition in place."""
    command = Command(bin_dir / "kubectl", home)
    command.ok("apply", "-f", "-", stdin=DEFINITION)
    command.ok("wait", "--for=condition=Established", "crd/crontabs.stable.example.com", "--timeout=20s")
    return command


@pytest.fixture
def kubectl(cluster: Command) -> Command:
    """kubectl in a fresh namespace."""
    name = f"test-{_run}-{next(_counter)}"
    cluster.ok("create", "namespace", name)
    return cluster.within(name)


@pytest.fixture
def helm(bin_dir: Path, kubectl: Command) -> Command:
    """helm in the namespace of this test's kubectl."""
    return Command(bin_dir / "helm", kubectl.home, kubectl.namespace)
