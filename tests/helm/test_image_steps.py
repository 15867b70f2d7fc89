"""The steps of the Dockerfile, done on this machine: what they make runs as the pods' user on a root that cannot be written.

Cannot show what a container engine would: bases, layers and capabilities. Needs cargo and a package index, and for the read-only root
the right to mount.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dns.message
import dns.query
import pytest

from tests.cli.command import Lines, started
from tests.helm.image_file import stages
from tests.helm.place import ROOT
from tests.server.beside import ZONES
from tests.server.process import free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ELSEWHERE = ("/wheels", "/opt/dns-api", "/source")
NEVER_COPIED = shutil.ignore_patterns("__pycache__", "*.so", "target")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that every user can read, unlike those that tests usually have."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    path = Path(tempfile.mkdtemp(prefix="image-", dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def built(folder: Path) -> Path:
    """What the stage `build` leaves: the wheel."""
    build = stages()["build"]
    source = folder / "source"
    source.mkdir()
    for copy in build.all_of("COPY"):
        for each in copy.split()[:-1]:
            if (ROOT / each).is_dir():
                shutil.copytree(ROOT / each, source / each, ignore=NEVER_COPIED)
            else:
                shutil.copy(ROOT / each, source)
    perform((each for each in build.all_of("RUN") if "apt-get" not in each), folder, source)
    return folder


def perform(commands: Iterator[str], folder: Path, place: Path) -> None:
    """Run instructions with their places below `folder`."""
    for command in commands:
        for each in ELSEWHERE:
            command = re.sub(rf"(?<![\w/.]){re.escape(each)}\b", str(folder / each.strip("/")), command)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euc", command],
            cwd=place,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def installed(folder: Path, name: str) -> Path:
    """Do what an image's stage of packages does; returns its command."""
    shutil.rmtree(folder / "opt", ignore_errors=True)
    perform(iter(stages()[f"{name}-packages"].all_of("RUN")), folder, folder)
    return folder / "opt" / "dns-api" / "bin" / "dns-api"


def environment() -> dict[str, str]:
    """Return what the image sets."""
    (words,) = stages()["runtime"].all_of("ENV")
    return dict(each.split("=", 1) for each in shlex.split(words))


@contextmanager
def contained(*words: str) -> Iterator[tuple[subprocess.Popen[str], Lines]]:
    """Run a program as the pods' user without any right, on a root that nobody can write, with nothing of ours in its environment."""
    user, group = stages()["runtime"].all_of("USER")[0].split(":")
    drop = f"setpriv --reuid={user} --regid={group} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all"
    command = f"mount -o remount,bind,ro / && cd /tmp && ! touch x 2>/dev/null && exec {drop} {shlex.join(words)}"
    process = subprocess.Popen(
        ["unshare", "--mount", "--propagation=private", "sh", "-c", command],
        env={**environment(), "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = Lines(process.stderr)
    try:
        yield process, lines
    finally:
        process.terminate()
        process.wait(20)
        lines.close()


@pytest.fixture
def _may_mount() -> None:
    words = ["unshare", "--mount", "mount", "-o", "remount,bind,ro", "/"]
    if os.getuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("a read-only root needs the right to mount")
    user = stages()["runtime"].all_of("USER")[0].split(":")[0]
    words = ["setpriv", f"--reuid={user}", "--clear-groups", f"{sys.base_prefix}/bin/python3", "-c", "pass"]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"Python in {sys.base_prefix} is not for every user")


@pytest.mark.usefixtures("_may_mount")
def test_the_name_servers_image_answers_with_its_native_data_plane(built: Path) -> None:
    command = installed(built, "server")
    native = [str(command.with_name("python")), "-c", "import server._native"]
    assert subprocess.run(native, cwd="/", check=False, timeout=60).returncode == 0
    packages = {each.name.lower() for each in (command.parents[1] / "lib").glob("python*/site-packages/*")}
    assert not packages & {"boto3", "botocore", "cloudflare", "cel_expr_python", "re2", "jsonschema"}
    zone = shutil.copy(ZONES / "ent.test.zone", built)
    dns_port, http_port = free_port(), free_port()
    options = ["--listen", f":{dns_port}", "--http", f":{http_port}", "--zonefile", str(zone)]
    with contained(str(command), "server", *options) as (process, lines):
        lines.until("name server answers")
        query = dns.message.make_query("short.ent.test.", "A")
        assert dns.query.udp(query, "127.0.0.1", 5, dns_port).answer
        assert dns.query.tcp(query, "::1", 5, dns_port).answer
        with urllib.request.urlopen(f"http://127.0.0.1:{http_port}/metrics") as answer:
            assert "dns_api_server_queries_total" in answer.read().decode()
        process.terminate()
        assert process.wait(20) == 0


@pytest.mark.usefixtures("_may_mount")
def test_the_managers_image_runs_every_provider(built: Path) -> None:
    command = installed(built, "manager")
    up = ["up", "--data-dir", str(built / "data"), "--api", "127.0.0.1:0", "--dns", "127.0.0.1:0"]
    with started(*up, environment={"HOME": str(built)}) as process:
        process.stdout.until("Stop with Ctrl-C")
        (built / "data").chmod(0o755)
        (built / "data" / "kubeconfig").chmod(0o644)
        port = free_port()
        on = [f"--{name}-controller-enabled=true" for name in ("hosted", "external", "route53", "cloudflare")]
        words = [str(command), "manager", "--kubeconfig", str(built / "data" / "kubeconfig"), *on]
        with contained(*words, "--metrics-listen", f":{port}", "--identity=contained") as (manager, lines):
            line = json.loads(lines.until("caches are complete"))
            assert line["level"] == "info"
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
                assert answer.status == 200
            manager.terminate()
            assert manager.wait(20) == 0
