"""Reads the project's own sources for the rule tests, each of them once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("zonemodel", "ownership", "kube", "server", "controllers", "standalone", "cli")


@dataclass(frozen=True, slots=True)
class Import:
    """A module that a file imports; `checked_only` is what only a type checker reads."""

    module: str
    line: int
    checked_only: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    line: int
    length: int


@dataclass(frozen=True, slots=True)
class Source:
    """What the rules ask of one Python file; its tree, which is many times as large, is not kept."""

    path: Path
    text: str
    documented: bool
    imports: tuple[Import, ...]
    functions: tuple[Function, ...]

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

    @property
    def package(self) -> str:
        return self.module.split(".", 1)[0]


def sources(*packages: str) -> Iterator[Source]:
    """Yield the files of the packages, of all product packages when none is named."""
    for package in packages or PACKAGES:
        yield from _files(package)


def parse(path: Path, text: str) -> Source:
    tree = ast.parse(text, str(path))
    nodes = list(ast.walk(tree))
    unread = {line for node in nodes if isinstance(node, ast.If) for line in _checked_only(node)}
    return Source(
        path,
        text,
        documented=bool(ast.get_docstring(tree)),
        imports=tuple(
            Import(module, node.lineno, node.lineno in unread)
            for node in nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for module in _modules(path, node)
        ),
        functions=tuple(
            Function(node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1)
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
    )


@cache
def _files(package: str) -> tuple[Source, ...]:
    paths = sorted((ROOT / package).rglob("*.py"))
    return tuple(parse(path, path.read_text(encoding="utf-8")) for path in paths)


def _modules(path: Path, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield what a statement imports, those inside functions and under TYPE_CHECKING too."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    assert node.level == 0, f"{path}:{node.lineno}: relative import"
    yield node.module or ""
    yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _checked_only(node: ast.If) -> range:
    if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return range(node.lineno, (node.body[-1].end_lineno or node.lineno) + 1)
    return range(0)
