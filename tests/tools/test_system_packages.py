"""`tools/system-packages` installs what is missing and leaves no name server running on the machine of whoever builds this."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "system-packages"
INSTALLED = "bash"
COMMANDS = {
    "dpkg-query": f'[ "$4" = {INSTALLED} ] && echo "install ok installed" || exit 1',
    "apt-get": 'echo "apt-get $*" >>"$LOG"; [ "$1" = install ] && cat "$POLICY_RC_D" >>"$LOG"; exit "${FAULT:-0}"',
    "systemctl": 'echo "systemctl $*" >>"$LOG"',
    "sudo": 'exec "$@"',
}


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder whose `bin` stands for the programs of a Debian machine."""
    (tmp_path / "bin").mkdir()
    for name, body in COMMANDS.items():
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/bash\n{body}\n")
        program.chmod(0o755)
    (tmp_path / "log").touch()
    return tmp_path


def install(machine: Path, *packages: str, fault: int = 0) -> int:
    return run(machine, packages, f"{machine / 'bin'}:{os.environ['PATH']}", fault).returncode


def run(machine: Path, packages: Sequence[str], path: str, fault: int = 0) -> subprocess.CompletedProcess[str]:
    listed = machine / "packages.txt"
    listed.write_text("# some packages\n" + "".join(f"{package}\n" for package in packages))
    environment = os.environ | {
        "PATH": path,
        "LOG": str(machine / "log"),
        "POLICY_RC_D": str(machine / "policy-rc.d"),
        "FAULT": str(fault),
    }
    return subprocess.run([SCRIPT, listed], env=environment, capture_output=True, text=True, check=False)


def told(machine: Path) -> list[str]:
    return (machine / "log").read_text().splitlines()


def test_services_are_neither_started_nor_left_for_the_next_boot(machine: Path) -> None:
    assert install(machine, INSTALLED, "bind9", "python3-venv") == 0
    assert told(machine) == [
        "apt-get update -qq",
        "apt-get install -y -qq --no-install-recommends bind9 python3-venv",
        "#!/bin/sh",
        "exit 101",
        "systemctl disable --quiet --now named",
    ]
    assert not (machine / "policy-rc.d").exists()


def test_nothing_is_done_where_nothing_is_missing(machine: Path) -> None:
    assert install(machine, INSTALLED) == 0
    assert told(machine) == []


def test_a_policy_of_the_machine_stays(machine: Path) -> None:
    policy = machine / "policy-rc.d"
    policy.write_text("exit 0 # ours\n")
    assert install(machine, "nsd") == 0
    assert "exit 0 # ours" in told(machine)
    assert policy.read_text() == "exit 0 # ours\n"


def test_a_failed_installation_leaves_no_policy(machine: Path) -> None:
    assert install(machine, "knot", fault=100) == 100
    assert not (machine / "policy-rc.d").exists()


def test_another_system_than_debian_is_told_and_goes_on(tmp_path: Path) -> None:
    for name in ("bash", "env", "grep", "sed"):
        program = shutil.which(name)
        assert program is not None
        (tmp_path / name).symlink_to(program)
    done = run(tmp_path, ["knot", "nsd"], str(tmp_path))
    assert done.returncode == 0
    assert "left out, as this is no Debian: knot nsd" in done.stderr
