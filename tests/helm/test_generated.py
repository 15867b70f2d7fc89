"""What is checked in of the installation is what it is generated from."""

from __future__ import annotations

from tests.helm.generate import files
from tests.helm.place import CHART, KUSTOMIZE, ROOT


def test_every_generated_file_is_checked_in_as_it_is_generated() -> None:
    for path, text in files():
        name = path.relative_to(ROOT)
        assert path.is_file(), f"{name} is missing: run `python -m tests.helm.generate`"
        assert path.read_text(encoding="utf-8") == text, f"{name} is out of date: run `python -m tests.helm.generate`"


def test_no_file_is_left_over_from_something_that_is_gone() -> None:
    generated = {path for path, _ in files()}
    kept = set((CHART / "crds").iterdir())
    kept |= {path for path in (CHART / "files").rglob("*.yaml") if path.parent.name != "alerts"}
    kept |= {path for path in KUSTOMIZE.rglob("*") if path.is_file()}
    assert kept - generated == set()
