"""The programs are built whole or not at all, and what goes wrong is told; a script stands in for go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import interruptible
from tests.cluster import build as building
from tests.cluster.build import PROGRAMS, BuildError, build
from tests.cluster.program import ROOT
from tests.product.patience import until

GO = """#!/bin/sh
echo "$@" >> calls
case "$1" in
mod) echo "module k8s.io/kubernetes\nrequire (\n)" > go.mod.theirs; echo "{\\"GoMod\\": \\"$PWD/go.mod.theirs\\"}" ;;
build) while [ "$1" != -o ]; do shift; done; mkdir -p "$(dirname "$2")"; echo program > "$2" ;;
esac
"""
FULL = GO.replace("echo program", "echo half").replace(
    " ;;\nesac", "; echo 'no space left on device' >&2; exit 1 ;;\nesac"
)
UNKNOWN = '#!/bin/sh\necho \'{"Error": "not found: module"}\'; exit 1\n'
SLOW = FULL.replace("echo 'no space", "sleep 300; echo 'no space")


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The script, which tests write."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    script = folder / "go"
    script.write_text(GO)
    script.chmod(0o755)
    return script


def built(folder: Path) -> dict[str, str]:
    return {each.name: each.read_text().strip() for each in sorted((folder / "bin").glob("*"))}


def test_programs_are_built_once(go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build(tmp_path) == tmp_path / "bin"
    monkeypatch.setattr(building, "find_go", lambda: None)
    assert build(tmp_path) == tmp_path / "bin"
    assert built(tmp_path) == dict.fromkeys(sorted(PROGRAMS), "program")


def test_another_version_is_built_anew(go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path)
    go.write_text(GO.replace("echo program", "echo newer"))
    monkeypatch.setitem(building.VERSIONS, "etcd", "v3.9.9")
    build(tmp_path)
    assert built(tmp_path) == {**dict.fromkeys(PROGRAMS, "program"), "etcd": "newer"}


def test_other_words_for_the_compiler_build_anew(go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they say of the version is within the program."""
    build(tmp_path)
    go.write_text(GO.replace("echo program", "echo newer"))
    monkeypatch.setattr(building, "BUILD_WORDS", ("-ldflags=-X version=other",))
    build(tmp_path)
    assert built(tmp_path) == dict.fromkeys(sorted(PROGRAMS), "newer")


def test_without_go_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "find_go", lambda: None)
    with pytest.raises(BuildError, match=r"^\[1/3\] etcd v\S+: there is no go, neither on PATH nor .*install go 1\.26"):
        build(tmp_path)


def test_what_was_cut_off_is_no_program(go: Path, tmp_path: Path) -> None:
    go.write_text(FULL)
    with pytest.raises(BuildError, match="no space left on device"):
        build(tmp_path)
    assert built(tmp_path) == {"etcd.unfinished": "half"}
    go.write_text(GO)
    build(tmp_path)
    assert built(tmp_path) == dict.fromkeys(sorted(PROGRAMS), "program")


def test_what_go_says_in_json_is_told(go: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    build(tmp_path)
    (tmp_path / "bin" / "kube-apiserver").unlink()
    go.write_text(UNKNOWN)
    with pytest.raises(BuildError, match=r"requirements of kube-apiserver: .*not found: module"):
        build(tmp_path)


def test_where_go_says_nothing_the_disk_is_suspected(go: Path, tmp_path: Path) -> None:
    go.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(BuildError, match="said nothing; is there room on the disk"):
        build(tmp_path)


def test_a_folder_that_cannot_be_written_is_told(go: Path, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("in the way")
    with pytest.raises(BuildError, match=r"\[1/3\] etcd v\S+: .*source"):
        build(tmp_path)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_says_so_and_leaves_nobody_behind(go: Path, tmp_path: Path, signum: int) -> None:
    go.write_text(SLOW.replace("sleep 300", "sleep 300 & echo $! > sleeper; wait"))
    words = [sys.executable, "-m", "tests.cluster", str(tmp_path)]
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible
    )
    sleeper = tmp_path / "source" / "etcd" / "sleeper"
    until(lambda: sleeper.exists() and bool(sleeper.read_text()), "a build under way")
    process.send_signal(signum)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, f"  [1/3] etcd {building.ETCD_VERSION} ...\n")
    assert errors == "error: interrupted; programs that are whole stay and are not built again\n"
    until(lambda: not Path(f"/proc/{sleeper.read_text().strip()}").exists(), "the end of its children")
