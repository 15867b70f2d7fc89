"""One `dns-api up` for the tests that leave it running; each test has a namespace and a domain of its own."""

from __future__ import annotations

import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from controllers.api.group import NAMESPACES
from kube.client import Client
from kube.config import connect
from tests.product.product import Product
from tests.product.run import running
from tests.product.stage import Stage
from tests.standalone.kubectl.command import Command
from tests.tools import kubectl as binaries


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with running(tmp_path_factory.mktemp("product")) as product:
        yield product
    assert product.complaints() == ""


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[Product]:
    """A product of the test's own, which it may kill."""
    folder = tmp_path / "product"
    folder.mkdir()
    with running(folder) as product:
        yield product
    assert product.complaints() == ""


@pytest.fixture
async def client(product: Product) -> AsyncIterator[Client]:
    async with connect(product.kubeconfig) as client:
        yield client


@pytest.fixture(scope="session")
def cluster(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The real kubectl on the product, with a home directory that holds its kubeconfig and nothing else."""
    folder = Path(sys.prefix) / "bin"
    binaries.install(folder)
    home = tmp_path_factory.mktemp("home")
    shutil.copy(product.kubeconfig, home / "kubeconfig")
    return Command(folder / "kubectl", home)


@pytest.fixture
def kubectl(cluster: Command, stage: Stage) -> Command:
    """kubectl in the test's namespace."""
    return cluster.within(stage.namespace)


@pytest.fixture
async def stage(product: Product, client: Client) -> Stage:
    """A fresh namespace."""
    return await fresh_stage(product, client)


async def fresh_stage(product: Product, client: Client) -> Stage:
    name = f"test-{secrets.token_hex(4)}"
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return Stage(client, product.dns, name, f"{name}.test")
