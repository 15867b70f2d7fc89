"""Reads the project's own sources for the rule tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("zonemodel", "ownership", "kube", "server", "controllers", "standalone", "cli")


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file of a package, parsed."""

    path: Path
    tree: ast.Module
    text: str

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

    @property
    def package(self) -> str:
        return self.module.split(".", 1)[0]


def sources(*packages: str) -> Iterator[Source]:
    """Yield the files of the packages, of all product packages when none is named."""
    for package in packages or PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            yield Source(path, ast.parse(text, str(path)), text)


def imports(source: Source) -> Iterator[tuple[str, int]]:
    """Yield (imported module, line) for each import, those inside functions and under TYPE_CHECKING too."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source.path}:{node.lineno}: relative import"
            yield node.module or "", node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
