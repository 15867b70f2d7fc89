"""The manifests that `-f` names: read, applied in order, applied again when a file changes.

A manifest that is broken or refused is reported with its file and position and keeps nobody else back. Removing a file deletes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from kube.client import Client
from kube.discovery import Discovery
from kube.errors import KubeError
from standalone.up.config import FIELD_MANAGER

POLL_S: Final = 1.0
SUFFIXES: Final = (".yaml", ".yml", ".json")
FIRST: Final = ("CustomResourceDefinition", "Namespace", "Provider", "ZoneClass", "Zone")
DEFAULT_NAMESPACE: Final = "default"


@dataclass(frozen=True, slots=True)
class Document:
    """One manifest and where it stands."""

    path: Path
    number: int
    content: dict[str, Any]

    @property
    def place(self) -> str:
        return f"{self.path} (document {self.number})"


@dataclass(frozen=True, slots=True)
class Problem:
    """A manifest that could not be applied, and why."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


Stamp = tuple[int, int]
Report = Callable[[int, Sequence[Problem]], None]


class ManifestSource:
    """Applies what stands in files and folders."""

    def __init__(self, client: Client, paths: Sequence[Path]) -> None:
        self._client = client
        self._discovery = Discovery(client)
        self._paths = paths
        self._seen: dict[Path, Stamp] = {}

    async def apply_all(self) -> tuple[list[Document], list[Problem]]:
        """Apply every manifest; returns those that were applied and the problems with the others."""
        self._seen = self._stamps()
        return await self._apply(list(self._seen))

    async def follow(self, report: Report) -> None:
        """Apply each file that changed or appeared since `apply_all`, until cancelled; `report` gets what came of it."""
        while True:
            await asyncio.sleep(POLL_S)
            now = await asyncio.to_thread(self._stamps)
            changed = [path for path, stamp in now.items() if self._seen.get(path) != stamp]
            self._seen = now
            if changed:
                applied, problems = await self._apply(changed)
                report(len(applied), problems)

    def _stamps(self) -> dict[Path, Stamp]:
        stamps = {}
        for path in files_below(self._paths):
            try:
                found = path.stat()
            except FileNotFoundError:
                continue
            stamps[path] = (found.st_mtime_ns, found.st_size)
        return stamps

    async def _apply(self, paths: Sequence[Path]) -> tuple[list[Document], list[Problem]]:
        documents: list[Document] = []
        problems: list[Problem] = []
        for path in paths:
            try:
                documents += await asyncio.to_thread(read, path)
            except ManifestError as error:
                problems.append(Problem(str(path), str(error)))
        applied, refused = await self.submit_all(documents)
        return applied, problems + refused

    async def submit_all(self, documents: Iterable[Document]) -> tuple[list[Document], list[Problem]]:
        """Apply manifests, those that others need first; returns what was applied and the problems with the others."""
        applied: list[Document] = []
        problems: list[Problem] = []
        for document in sorted(documents, key=_rank):
            problem = await self._submit(document)
            if problem is None:
                applied.append(document)
            else:
                problems.append(problem)
        return applied, problems

    async def _submit(self, document: Document) -> Problem | None:
        content = document.content
        try:
            ref = await self._discovery.resource_of(content["apiVersion"], content["kind"])
            if ref.namespaced:
                content["metadata"].setdefault("namespace", DEFAULT_NAMESPACE)
            await self._client.apply(ref, content, manager=FIELD_MANAGER, force=True, field_validation="Strict")
        except KubeError as error:
            return Problem(document.place, error.message)
        return None


class ManifestError(ValueError):
    """A file that holds no manifests; the message says what is wrong where."""


def files_below(paths: Sequence[Path]) -> list[Path]:
    """Return the manifest files that paths name: a file itself, a folder's YAML and JSON files, sorted, not deeper."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(child for child in path.iterdir() if child.suffix in SUFFIXES and child.is_file())
        else:
            found.append(path)
    return found


def read(path: Path) -> list[Document]:
    """Return the manifests of a file, those of a List one by one. Raises ManifestError."""
    try:
        text = path.read_text(encoding="utf-8")
        contents = list(yaml.safe_load_all(text))
    except OSError as error:
        raise ManifestError(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ManifestError(f"is not UTF-8 text (octet {error.start})") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ManifestError(f"is not YAML: {where}{error.problem}") from error
    except yaml.YAMLError as error:
        raise ManifestError(f"is not YAML: {error}") from error
    return [
        Document(path, number, manifest)
        for number, content in enumerate(contents, 1)
        if content is not None
        for manifest in _manifests(content, number)
    ]


def _manifests(content: Any, number: int) -> Iterator[dict[str, Any]]:
    if not isinstance(content, dict):
        raise ManifestError(f"document {number} is a {type(content).__name__}, a manifest is a mapping")
    if content.get("kind") == "List" and isinstance(content.get("items"), list):
        for item in content["items"]:
            yield from _manifests(item, number)
        return
    for field in ("apiVersion", "kind"):
        if not isinstance(content.get(field), str):
            raise ManifestError(f"document {number}: {field} is missing")
    metadata = content.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise ManifestError(f"document {number}: metadata.name is missing")
    yield content


def _rank(document: Document) -> int:
    kind = document.content["kind"]
    return FIRST.index(kind) if kind in FIRST else len(FIRST)
