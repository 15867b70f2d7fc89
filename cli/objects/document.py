"""Manifests as people hand them over: documents of files, folders and standard input, each with its place.

Owns places, stages and the faults of a document by itself. A broken document is a fault and keeps nobody else back. Never asks a
server.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from kube.quantity import kind_of

STDIN: Final = "-"
SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
FIRST: Final = ("CustomResourceDefinition", "Namespace")
LAST: Final = ("Provider", "ZoneClass", "Zone", "RecordSet", "RecordWithdrawal", "RecordWithdrawalWaiver")
_OTHERS: Final = len(FIRST)
_TYPE_FORMS: Final = (
    ("apiVersion", re.compile(r"([a-z0-9.-]+/)?[a-z0-9]+"), "allowed are VERSION and GROUP/VERSION"),
    ("kind", re.compile(r"[A-Za-z][A-Za-z0-9]*"), "a word such as Zone is required"),
)
_OF_THE_API: Final = frozenset(
    {
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
        "selfLink",
    }
)
"""Metadata that an API gives to its objects itself: of no meaning in a manifest, and refused by another API."""
_SEPARATOR: Final = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_EMPTY: Final = re.compile(r"\s*(?:(?:#[^\n]*|%[^\n]*|\.\.\.)(?:\s+|\Z))*")


@dataclass(frozen=True, slots=True)
class Document:
    """A manifest with type and name, and where it stands: `zone.yaml (document 2)`."""

    place: str
    content: dict[str, Any]

    @property
    def api_version(self) -> str:
        return str(self.content["apiVersion"])

    @property
    def kind(self) -> str:
        return str(self.content["kind"])

    @property
    def subject(self) -> str:
        """What results call it as long as nobody knows the kind."""
        return f"{self.kind} {self.content['metadata']['name']}"

    @property
    def stage(self) -> int:
        """When it is applied: what others need comes first."""
        if self.kind in FIRST:
            return FIRST.index(self.kind)
        return _OTHERS + 1 + LAST.index(self.kind) if self.kind in LAST else _OTHERS


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a place; `subject` names the object where it is known."""

    place: str
    messages: tuple[str, ...]
    subject: str = ""


def read_documents(sources: Iterable[str]) -> tuple[list[Document], list[Fault]]:
    """Return the manifests of all sources, those of Lists one by one, and what could not be read.

    Metadata that an API gives itself is left out, so that what `dns-api get -o yaml` prints can be applied anywhere.
    """
    found = [each for source in sources for name, text in _texts(source) for each in _of_text(name, text)]
    return [each for each in found if isinstance(each, Document)], [each for each in found if isinstance(each, Fault)]


def _texts(source: str) -> Iterator[tuple[str, str | Fault]]:
    if source == STDIN:
        yield "standard input", sys.stdin.read()
        return
    path = Path(source)
    try:
        files = sorted(each for each in path.iterdir() if each.suffix in SUFFIXES) if path.is_dir() else [path]
    except OSError as error:
        yield source, _fault(source, f"cannot be read: {error.strerror}")
        return
    if not files:
        yield source, _fault(source, f"holds no manifests: no file ends in {', '.join(sorted(SUFFIXES))}")
    for file in files:
        try:
            yield str(file), file.read_text(encoding="utf-8")
        except OSError as error:
            yield str(file), _fault(str(file), f"cannot be read: {error.strerror}")
        except UnicodeDecodeError as error:
            yield str(file), _fault(str(file), f"is not UTF-8 text (octet {error.start})")


def _of_text(name: str, text: str | Fault) -> Iterator[Document | Fault]:
    if isinstance(text, Fault):
        yield text
        return
    found = False
    for number, (line, part) in enumerate(_parts(text), start=1):
        found = True
        place = f"{name} (document {number})"
        try:
            content = _parse(part)
        except yaml.MarkedYAMLError as error:
            yield _fault(place, _syntax_fault(error, part, line))
        except (yaml.YAMLError, ValueError) as error:
            yield _fault(place, f"is not YAML: {' '.join(str(error).split())}")
        else:
            yield from _manifests(content, place)
    if not found:
        yield _fault(name, "holds no manifests: it is empty")


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the documents of a YAML stream that hold anything, each with the number of its first line."""
    start, line = 0, 1
    for end, following in [*(each.span() for each in _SEPARATOR.finditer(text)), (len(text), 0)]:
        part = text[start:end]
        if not _EMPTY.fullmatch(part):
            yield line, part
        line += part.count("\n")
        start = following


def _parse(text: str) -> object:
    """JSON is read as such: it may hold characters that YAML has no place for."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text, object_pairs_hook=_unique)
        except json.JSONDecodeError:
            pass  # YAML has braces too
    return yaml.load(text, Loader=_Loader)


def _manifests(content: object, place: str) -> Iterator[Document | Fault]:
    if not isinstance(content, dict):
        yield _fault(place, f"found {kind_of(content)}, a manifest is a mapping with apiVersion, kind and metadata")
        return
    items = content.get("items")
    if str(content.get("kind")).endswith("List") and isinstance(items, list):
        for number, item in enumerate(items, start=1):
            yield from _manifests(item, f"{place}, item {number}")
        return
    faults = tuple(_faults(content))
    metadata = content.get("metadata")
    subject = ""
    if isinstance(metadata, dict):
        subject = f"{content.get('kind')} {metadata.get('name')}"
        for name in _OF_THE_API & metadata.keys():
            del metadata[name]
    yield Fault(place, faults, subject) if faults else Document(place, content)


def _faults(content: dict[str, Any]) -> Iterator[str]:
    for field, form, allowed in _TYPE_FORMS:
        found = content.get(field)
        if not isinstance(found, str) or not form.fullmatch(found):
            yield f"{field}: found {found!r}, {allowed}"
    metadata = content.get("metadata")
    if not isinstance(metadata, dict):
        yield f"metadata: found {metadata!r}, a mapping with a name is required"
    elif not isinstance(metadata.get("name"), str) or not metadata["name"]:
        yield f"metadata.name: found {metadata.get('name')!r}, a text is required"
    elif not isinstance(metadata.get("namespace", ""), str):
        yield f"metadata.namespace: found {metadata['namespace']!r}, a text is required"
    yield from _not_json(content, "")


def _not_json(value: object, path: str) -> Iterator[str]:
    """Yield what YAML can say and JSON cannot."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                yield f"{path or 'the top'}: found the key {key!r}, keys are texts: put it in quotes"
            else:
                yield from _not_json(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _not_json(inner, f"{path}[{at}]")
    elif not isinstance(value, str | int | float | None) or value != value:
        yield f"{path}: found {value!r}, which JSON cannot hold: put it in quotes"


def _fault(place: str, message: str) -> Fault:
    return Fault(place, (message,))


def _syntax_fault(error: yaml.MarkedYAMLError, text: str, first_line: int) -> str:
    mark = error.problem_mark or error.context_mark
    where = f"line {mark.line + first_line}, column {mark.column + 1}: " if mark else ""
    syntax = "" if isinstance(error, yaml.constructor.ConstructorError) else "is not YAML: "
    line = text.splitlines()[mark.line : mark.line + 1] if mark else []
    tab = any(each[: mark.column + 1].endswith("\t") for each in line) if mark else False
    return f"{syntax}{where}{'found a tab, YAML is indented with spaces' if tab else error.problem or error.context}"


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"found the key {next(name for name in names if names.count(name) > 1)!r} twice")
    return found


class _Loader(yaml.CSafeLoader):
    """Refuses a key that stands twice, of which one would be lost, and leaves texts that look like dates to their fields."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if (key.tag, key.value) in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"found the key {key.value!r} twice in one mapping", key.start_mark
                    )
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
