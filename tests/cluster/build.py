"""Builds kube-apiserver, kube-controller-manager and etcd from their Go modules, once, into a folder that is kept.

Needs `go` and a module proxy; the requirements are those of the programs themselves, so that what runs is what Kubernetes releases.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

KUBERNETES_VERSION: Final = "v1.37.2"
ETCD_VERSION: Final = "v3.7.3"
GO_VERSION: Final = "1.26"
TELL_EVERY_S: Final = 20.0
CONSTRUCTORS: Final = {
    "kube-apiserver": "NewAPIServerCommand",
    "kube-controller-manager": "NewControllerManagerCommand",
}
PROGRAMS: Final = ("etcd", *CONSTRUCTORS)
VERSIONS: Final = {"etcd": ETCD_VERSION, **dict.fromkeys(CONSTRUCTORS, KUBERNETES_VERSION)}
BUILD_WORDS: Final = (
    "-buildvcs=false",  # this repository may belong to another user
    f"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}",
)
"""Without what only a debugger reads, and with the version that clients are told."""

_KUBERNETES_MAIN: Final = """package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/{program}/app"
)

func main() {{ os.Exit(cli.Run(app.{constructor}())) }}
"""
_ETCD_MAIN: Final = """package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
"""


class BuildError(Exception):
    """A program could not be built; the text is what go said."""


def build(directory: Path) -> Path:
    """Make the programs that are not there yet in these versions and by these words, telling what is under way, and return their folder.

    Raises BuildError.
    """
    folder = directory / "bin"
    for number, program in enumerate(PROGRAMS, 1):
        label = f"[{number}/{len(PROGRAMS)}] {program} {VERSIONS[program]}"
        try:
            _make(program, directory / "source" / program, folder / program, label)
        except OSError as error:
            raise BuildError(f"{label}: {error}") from error
    return folder


def find_go() -> str | None:
    """Return the go command: of PATH, or where its own archive is unpacked to."""
    return shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")


def _make(program: str, source: Path, target: Path, label: str) -> None:
    made, wanted = source / "version", " ".join((VERSIONS[program], *BUILD_WORDS))
    if target.exists() and made.exists() and made.read_text() == wanted:
        return
    if (go := find_go()) is None:
        raise BuildError(
            f"{label}: there is no go, neither on PATH nor in /usr/local/go/bin: install go {GO_VERSION} or newer"
        )
    source.mkdir(parents=True, exist_ok=True)
    made.unlink(missing_ok=True)
    if program == "etcd":
        _write_etcd_module(source)
    else:
        _write_kubernetes_module(go, source, program)
    # Under another name until it is whole, and with its version said last: a build that was cut off is made again.
    unfinished = target.with_name(f"{program}.unfinished")
    _run([go, "build", *BUILD_WORDS, "-o", str(unfinished), "."], source, label)
    unfinished.replace(target)
    made.write_text(wanted)


def _write_etcd_module(source: Path) -> None:
    (source / "main.go").write_text(_ETCD_MAIN)
    requirement = f"require go.etcd.io/etcd/server/v3 {ETCD_VERSION}"
    (source / "go.mod").write_text(f"module example.com/etcd\n\ngo {GO_VERSION}\n\n{requirement}\n")


def _write_kubernetes_module(go: str, source: Path, program: str) -> None:
    """Take Kubernetes' own requirements, and the parts that it stages in its tree from where they are published."""
    (source / "main.go").write_text(_KUBERNETES_MAIN.format(program=program, constructor=CONSTRUCTORS[program]))
    download = [go, "mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES_VERSION}"]
    module = Path(json.loads(_run(download, source, f"requirements of {program}"))["GoMod"]).read_text()
    staged = KUBERNETES_VERSION.replace("v1.", "v0.", 1)
    module = re.sub(r"^module .*", f"module example.com/{program}", module, flags=re.MULTILINE)
    module = re.sub(r"(k8s\.io/[a-z-]+) => \./staging/src/k8s\.io/[a-z-]+", rf"\1 => \1 {staged}", module)
    module = module.replace("require (", f"require (\n\tk8s.io/kubernetes {KUBERNETES_VERSION}", 1)
    (source / "go.mod").write_text(module)


def _run(command: Sequence[str], folder: Path, label: str) -> str:
    """Run go to its end, tell every now and then that it goes on, and return what it printed."""
    began = time.monotonic()
    print(f"  {label} ...", flush=True)
    environment = os.environ | {"GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}
    said, complained = folder / "stdout", folder / "stderr"
    with said.open("wb") as output, complained.open("wb") as errors:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=errors, start_new_session=True
        )
        try:
            while (code := _ended(process)) is None:
                print(f"  {label} ... {time.monotonic() - began:.0f} s", flush=True)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its compilers, too
            process.wait()
    if code != 0:
        raise BuildError(f"{label}: {_complaint(complained.read_text() or said.read_text())}")
    print(f"  {label}: {time.monotonic() - began:.0f} s", flush=True)
    return said.read_text()


def _complaint(said: str) -> str:
    """Return what go complained of, without what it did until then."""
    told = [line for line in said.splitlines() if not line.startswith("go: downloading ")]
    return "\n".join(told).strip()[-4000:] or "go failed and said nothing; is there room on the disk?"


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(TELL_EVERY_S)
    except subprocess.TimeoutExpired:
        return None
