"""CoreDNS, which Debian does not have: built with Go from its own sources, with the plugins that answer from a master file.

`python -m bench.coredns` builds it, which takes some minutes and some hundred megabytes of downloads.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

VERSION: Final = "v1.12.0"
FOLDER: Final = Path(__file__).resolve().parent / "target" / "coredns"
PROGRAM: Final = FOLDER / "coredns"

_SOURCE: Final = """package main

import (
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/file"

	"github.com/coredns/coredns/coremain"
)

func main() { coremain.Run() }
"""
_MODULE: Final = "module bench/coredns\n\ngo 1.21\n"


def build() -> None:
    """Build the program; raises CalledProcessError, or FileNotFoundError without Go."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "main.go").write_text(_SOURCE)
    (FOLDER / "go.mod").write_text(_MODULE)
    for command in (
        ("get", f"github.com/coredns/coredns@{VERSION}"),
        ("mod", "tidy"),
        ("build", "-o", str(PROGRAM), "."),
    ):
        subprocess.run(("go", *command), cwd=FOLDER, check=True)


if __name__ == "__main__":
    build()
    print(PROGRAM)
