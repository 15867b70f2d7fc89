"""The README tells the truth: its commands are run, and what they print is what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md", *(ROOT / "docs").rglob("*.md")]
BIN = Path(sys.executable).parent
COMMAND_LIMIT_S = 60

# What differs from run to run: ages, and the width of the column that holds them.
AGE = re.compile(r"\b\d+[smh](\d+[sm])?$")


@dataclass(frozen=True, slots=True)
class Running:
    """`dns-api up` with the example zone, and everything it printed until it was ready."""

    kubeconfig: Path
    dns_port: str
    printed: str


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    data_dir = tmp_path_factory.mktemp("readme") / "data"
    command = [sys.executable, "-m", "cli.main", "up", "--data-dir", str(data_dir)]
    command += ["--api", "127.0.0.1:0", "--dns", "127.0.0.1:0", "-f", "examples/hosted"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Stop with"):
                break
        printed = "".join(lines)
        port = re.search(r"DNS +127\.0\.0\.1:(\d+)", printed)
        assert port is not None, printed
        yield Running(data_dir / "kubeconfig", port[1], printed)
    finally:
        process.terminate()
        process.wait(COMMAND_LIMIT_S)
        process.stdout.close()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", README, flags=re.DOTALL)


def steps() -> Iterator[tuple[str, str]]:
    """Yield (command, what the README shows of its output)."""
    for block in blocks("console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            yield command, output


def settled(text: str) -> list[str]:
    return [AGE.sub("AGE", line.rstrip()) for line in text.splitlines()]


def test_the_start_prints_what_the_readme_shows(running: Running) -> None:
    (shown,) = blocks("text")
    printed = running.printed.replace(str(running.kubeconfig.parent), ".dns-api")
    printed = re.sub(r"(API +http://127\.0\.0\.1):\d+", r"\1:6443", printed)
    printed = printed.replace(f"127.0.0.1:{running.dns_port}", "127.0.0.1:5353")
    printed = printed.replace(f"-p {running.dns_port} ", "-p 5353 ")
    assert printed == shown


def test_the_tour_goes_as_the_readme_shows(running: Running, tmp_path: Path) -> None:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "KUBECONFIG": str(running.kubeconfig), "PATH": path}
    walked = 0
    for command, shown in steps():
        if command.startswith("export "):
            continue
        here = command.replace("-p 5353", f"-p {running.dns_port}").replace("/tmp/", f"{tmp_path}/")
        done = subprocess.run(
            ["bash", "-c", f"{here} 2>&1"],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT_S,
            check=False,
        )
        assert settled(done.stdout) == settled(shown), f"$ {command}"
        walked += 1
    assert walked >= 10


def test_the_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"run", "test"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def anchors(document: Path) -> set[str]:
    """Return what links may name of a page, as GitHub calls its headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_links_of_the_documents_lead_somewhere() -> None:
    for document in DOCUMENTS:
        for path, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", document.read_text(encoding="utf-8")):
            there = document.parent / path if path else document
            assert there.exists(), f"{document}: {path}"
            assert not anchor or anchor in anchors(there), f"{document}: {path}#{anchor}"


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name in index, page
