"""Writes everything of the installation that follows from something else: `python -m tests.helm.generate`.

Files of the chart from the Python types, kustomizations from the chart, runbooks from the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.helm.chart_file import chart_files
from tests.helm.kustomization import kustomize_files
from tests.helm.place import BIN, CHART, KUSTOMIZE, ROOT
from tests.helm.runbook import page
from tests.tools import kubectl as binaries


def files() -> Iterator[tuple[Path, str]]:
    """Yield every generated file with its content, those of the chart first: kustomizations are rendered from it."""
    for name, text in chart_files():
        yield CHART / name, text
    for name, text in kustomize_files():
        yield KUSTOMIZE / name, text
    yield ROOT / "docs" / "runbooks.md", page()


def write() -> None:
    """Write them all."""
    binaries.install(BIN)
    for path, text in files():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
