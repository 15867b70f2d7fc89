"""The command itself: its help, and what it says when an extra is not installed."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from types import ModuleType

import pytest
import structlog

from cli.main import COMMANDS, main


@pytest.fixture(autouse=True)
def logs() -> Iterator[None]:
    """Commands that run within a test set up the logs of the process, which other tests write to as well."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


def test_the_help_lists_every_command_and_loads_none() -> None:
    script = """
import sys
from cli.main import main
try:
    main(["--help"])
finally:
    print(sorted(name for name in sys.modules if name.startswith("cli.")))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    for name in COMMANDS:
        assert f" {name} " in done.stdout
    assert "cli.main" in done.stdout
    assert "cli.run.up" not in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", name, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"dns-api {name}" in done.stdout or "Usage" in done.stdout


def test_the_version_and_the_short_help_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    for words, told in ((["--version"], f"dns-api {version('dns-api')}\n"), (["wait", "-h"], "Wait for objects")):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["server", "--kubeconfig", "x" * 300],
        ["manager", "--kubeconfig", "x" * 300],
        ["up", "-f", "x" * 300],
    ],
)
def test_a_file_that_nobody_lets_us_use_is_told(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"error: {'x' * 300}: File name too long"


def test_a_fault_of_the_network_that_nobody_expected_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_name: str) -> ModuleType:
        raise ConnectionResetError

    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(ConnectionResetError):
        main(["up"])


def test_an_early_interrupt_ends_it_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_name: str) -> ModuleType:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib, "import_module", interrupted)
    with pytest.raises(SystemExit) as ended:
        main(["up"])
    assert ended.value.code == 130


def test_the_first_process_of_a_container_ends_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel would keep the signal from it, as it has no handler of its own yet."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    monkeypatch.setattr("cli.main.build", lambda _: lambda _, **_named: signal.raise_signal(signal.SIGTERM))
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit, match="143"):
            main(["server"])
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_missing_package_is_told_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named 'engine.{name}'", name="engine.part")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(SystemExit) as ended:
        main(["up"])
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert "dns-api up needs the package engine" in told
    assert "pip install 'dns-api[standalone]'" in told


def test_a_module_of_ours_that_is_missing_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {name!r}", name="cli.lost")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError):
        main(["up"])
