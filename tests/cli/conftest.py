"""One `dns-api up` for all tests of the daily commands; each test has a namespace and a domain of its own."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.cli.api import Api
from tests.cli.command import Cli, Process, started
from tests.cli.manifest import text, zone, zone_class


@dataclass(frozen=True, slots=True)
class Up:
    """A running `dns-api up`."""

    process: Process
    kubeconfig: Path
    dns: tuple[str, int]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory without any configuration."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def up(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[Up]:
    data_dir = tmp_path_factory.mktemp("up") / "data"
    words = ["up", "--data-dir", str(data_dir), "--api", "127.0.0.1:0", "--dns", "127.0.0.1:0"]
    with started(*words, environment={"HOME": str(home)}) as process:
        address = re.search(r"DNS +([\d.]+):(\d+)", process.stdout.until("  DNS "))
        assert address is not None
        process.stdout.until("Stop with Ctrl-C")
        yield Up(process, data_dir / "kubeconfig", (address[1], int(address[2])))
        process.stop()
        assert "Traceback" not in process.stderr.rest()


@pytest.fixture
def api(up: Up) -> Api:
    """The running API, for what only another client can do."""
    return Api(yaml.safe_load(up.kubeconfig.read_text(encoding="utf-8"))["clusters"][0]["cluster"]["server"])


@pytest.fixture
def everywhere(up: Up, home: Path) -> Cli:
    """The command on the running API, without `-n`."""
    return Cli({"KUBECONFIG": str(up.kubeconfig), "HOME": str(home)})


@pytest.fixture
def namespace(everywhere: Cli) -> str:
    """A fresh namespace."""
    name = f"test-{secrets.token_hex(4)}"
    everywhere.ok("apply", "-f", "-", stdin=text({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
    return name


@pytest.fixture
def cli(everywhere: Cli, namespace: str) -> Cli:
    """The command in the fresh namespace."""
    return everywhere.within(namespace)


@pytest.fixture
def domain(namespace: str) -> str:
    """A domain that no other test uses."""
    return f"{namespace}.test"


@pytest.fixture
def served_zone(cli: Cli, domain: str) -> str:
    """The domain, with its ZoneClass `class` and Zone `zone` Programmed."""
    cli.ok("apply", "-f", "-", stdin=text(zone_class(), zone(domain)))
    cli.ok("wait", "zone/zone")
    return domain
