"""How the daily commands find their API, and what they say when it is not to be had."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.api.kubeconfig import find_files, read
from kube.errors import ConfigError
from tests.cli.command import ROOT, Cli, finished
from tests.cli.conftest import Up

LEFT_OUT = {
    "kubernetes",
    "structlog",
    "rich",
    "uvloop",
    "dns",
    "prometheus_client",
    "controllers",
    "zonemodel",
    "server",
}


def kubeconfig(path: Path, server: str = "http://127.0.0.1:1", **more: Any) -> Path:
    content = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
        **more,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


@pytest.fixture
def unused_url() -> str:
    """An address on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def test_the_first_configuration_there_is_counts(tmp_path: Path) -> None:
    folder, home = tmp_path / "work", tmp_path / "home"
    environ = {"HOME": str(home)}
    with pytest.raises(ConfigError, match=r"found no API: .*\n.*start one here with `dns-api up`"):
        find_files(None, environ, folder)
    at_home = kubeconfig(home / ".kube/config")
    assert find_files(None, environ, folder).paths == (at_home,)  # type: ignore[union-attr]  # it is there
    pod = {**environ, "KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    assert find_files(None, pod, folder) is None
    of_up = kubeconfig(folder / ".dns-api/kubeconfig")
    for environment in (environ, pod):
        found = find_files(None, environment, folder)
        assert found is not None
        assert (found.paths, found.of_up) == ((of_up,), True)
    named = kubeconfig(tmp_path / "named")
    listed = {**pod, "KUBECONFIG": f"{tmp_path / 'absent'}:{named}"}
    assert find_files(None, listed, folder).paths == (named,)  # type: ignore[union-attr]  # it is there
    assert find_files(at_home, listed, folder).paths == (at_home,)  # type: ignore[union-attr]  # it is there


def test_a_file_that_nobody_lets_us_see_is_told(tmp_path: Path) -> None:
    unseen = tmp_path / ("x" * 300)  # as for a folder without rights, the system fails to look
    for given, environ in ((unseen, {}), (None, {"KUBECONFIG": str(unseen)}), (None, {"HOME": str(unseen)})):
        with pytest.raises(ConfigError, match=r"^kubeconfig .*: cannot be read: File name too long"):
            find_files(given, environ, tmp_path)


def test_a_file_that_was_named_must_exist(tmp_path: Path) -> None:
    kubeconfig(tmp_path / ".kube/config")
    environ = {"HOME": str(tmp_path)}
    with pytest.raises(ConfigError, match=r"--kubeconfig: found no file at .*nix"):
        find_files(tmp_path / "nix", environ, tmp_path)
    with pytest.raises(ConfigError, match="KUBECONFIG: found no file at /nix; unset it"):
        find_files(None, {**environ, "KUBECONFIG": "/nix"}, tmp_path)


async def test_a_plain_file_is_read_here(tmp_path: Path) -> None:
    files = find_files(kubeconfig(tmp_path / "k", users=[{"name": "u", "user": {"token": "t"}}]), {}, tmp_path)
    assert files is not None
    view = read(files, None)
    assert (view.server, view.namespace) == ("http://127.0.0.1:1", "team")
    assert view.access is not None
    assert await view.access.authorization() == "Bearer t"


@pytest.mark.parametrize(
    "user", [{"client-certificate-data": "x"}, {"exec": {"command": "x"}}, {"tokenFile": "x"}, {"username": "x"}]
)
def test_credentials_that_are_not_plain_are_left_to_the_library(tmp_path: Path, user: dict[str, Any]) -> None:
    files = find_files(kubeconfig(tmp_path / "k", users=[{"name": "u", "user": user}]), {}, tmp_path)
    assert files is not None
    assert read(files, None).access is None


def test_files_are_merged_the_first_one_first(tmp_path: Path) -> None:
    one = kubeconfig(tmp_path / "1", "http://one")
    other = {"name": "there", "context": {"cluster": "d"}}
    two = kubeconfig(
        tmp_path / "2", "http://two", contexts=[other], clusters=[{"name": "d", "cluster": {"server": "http://d"}}]
    )
    files = find_files(None, {"KUBECONFIG": f"{one}:{two}"}, tmp_path)
    assert files is not None
    assert read(files, None).server == "http://one"
    assert (read(files, "there").server, read(files, "there").namespace) == ("http://d", "default")
    with pytest.raises(ConfigError, match="contexts: found no 'nowhere', there are: here, there"):
        read(files, "nowhere")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("a: [", "is not YAML"),
        ("- 1", "found a list, a mapping is required"),
        ("kind: Config", "current-context is missing"),
        ("current-context: x", "contexts: found no 'x', there are: none"),
        ("current-context: x\ncontexts: [{name: x, context: {cluster: c}}]", "clusters: found no 'c'"),
        (
            "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {a: b}}]",
            "cluster 'c': server: found None, http://HOST:PORT or https://HOST:PORT is required",
        ),
    ],
)
def test_a_broken_file_is_told_by_field(cli: Cli, tmp_path: Path, content: str, fault: str) -> None:
    path = tmp_path / "broken"
    path.write_text(content, encoding="utf-8")
    complaint = cli.fails("get", "zones", "--kubeconfig", str(path))
    assert complaint.startswith("error: kubeconfig ")
    assert str(path) in complaint
    assert fault in complaint


def test_a_broken_authority_is_told(tmp_path: Path, cli: Cli) -> None:
    for data in ("%", base64.b64encode(b"no certificate").decode()):
        cluster = {"server": "https://127.0.0.1:1", "certificate-authority-data": data}
        path = kubeconfig(tmp_path / "k", clusters=[{"name": "c", "cluster": cluster}])
        complaint = cli.fails("get", "zones", "--kubeconfig", str(path))
        assert "certificate-authority-data: holds no certificate" in complaint


@pytest.mark.parametrize(
    "words",
    [
        ["get", "zones"],
        ["describe", "zone/x"],
        ["delete", "zone/x"],
        ["wait", "zone/x"],
        ["events"],
        ["apply", "-f", str(ROOT / "examples" / "hosted")],
    ],
)
def test_an_api_that_does_not_answer_is_told_once(
    home: Path, tmp_path: Path, unused_url: str, words: list[str]
) -> None:
    path = kubeconfig(tmp_path / "k", unused_url)
    complaint = Cli({"HOME": str(home)}).fails(*words, "--kubeconfig", str(path))
    assert complaint.startswith(f"error: no answer from the API {unused_url} (--kubeconfig {path})\n")
    assert "name another one with --kubeconfig or KUBECONFIG" in complaint
    assert complaint.count("error: ") == 1


def test_the_api_of_an_up_that_has_ended_is_told(tmp_path: Path, home: Path, unused_url: str) -> None:
    kubeconfig(tmp_path / ".dns-api/kubeconfig", unused_url)
    result = finished("get", "zones", environment={"HOME": str(home)}, folder=tmp_path)
    assert result.code == 1
    assert f"no answer from the API {unused_url} (.dns-api/kubeconfig of `dns-api up`)" in result.stderr
    assert "start it with `dns-api up`" in result.stderr
    assert f"cannot connect to {unused_url.removeprefix('http://')}: Connection refused\n" in result.stderr


def test_an_up_in_this_folder_is_found(up: Up, tmp_path: Path, home: Path) -> None:
    (tmp_path / ".dns-api").mkdir()
    (tmp_path / ".dns-api/kubeconfig").write_bytes(up.kubeconfig.read_bytes())
    result = finished("get", "ns", "default", environment={"HOME": str(home)}, folder=tmp_path)
    assert (result.code, result.stderr) == (0, "")
    assert "default" in result.stdout


def test_the_namespace_of_the_context_counts(up: Up, cli: Cli, namespace: str, tmp_path: Path) -> None:
    content = yaml.safe_load(up.kubeconfig.read_text(encoding="utf-8"))
    content["contexts"][0]["context"]["namespace"] = namespace
    path = tmp_path / "k"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    within = Cli({"KUBECONFIG": str(path)})
    assert within.run("get", "zones").stderr == f"no zones found in namespace {namespace}\n"
    assert within.within("other").run("get", "zones").stderr == "no zones found in namespace other\n"


def test_a_configuration_for_the_library_works_too(up: Up, tmp_path: Path) -> None:
    content = yaml.safe_load(up.kubeconfig.read_text(encoding="utf-8"))
    (tmp_path / "token").write_text("any", encoding="utf-8")
    content["users"][0]["user"] = {"tokenFile": str(tmp_path / "token")}
    path = tmp_path / "k"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    assert "default" in Cli({}).ok("get", "ns", "--kubeconfig", str(path))


@pytest.mark.parametrize("command", ["get", "apply", "describe", "delete", "wait", "events"])
def test_a_daily_command_loads_little(command: str, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from cli.main import build\n"
        f"build({command!r})\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert LEFT_OUT & set(process.stdout.split()) == set()
