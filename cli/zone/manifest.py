"""Manifests as text: several YAML documents, or one JSON List, in and out.

Owns syntax and the unfolding of Lists. Never looks into a spec.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from kube.quantity import kind_of

Manifest = dict[str, Any]

STDIN: Final = "-"
_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_LINE_WIDTH: Final = 2**20
"""Wider than any value: a folded TXT value is hard to read and to search."""


class Format(StrEnum):
    """How manifests are written."""

    YAML = "yaml"
    JSON = "json"


class ManifestError(ValueError):
    """Text that holds no manifests; the message names file and, where there is one, line."""


def dump(manifests: Sequence[Mapping[str, Any]], form: Format, comment: str = "") -> str:
    """Return manifests as text; a JSON List carries no comment."""
    if form is Format.JSON:
        items = {"apiVersion": "v1", "kind": "List", "items": manifests}
        return orjson.dumps(items, option=orjson.OPT_INDENT_2).decode() + "\n"
    documents = yaml.dump_all(manifests, Dumper=_Dumper, sort_keys=False, width=_LINE_WIDTH, explicit_start=True)
    return comment + documents


def load(sources: Iterable[str]) -> list[Manifest]:
    """Return the manifests of files, of the YAML and JSON files of folders, and of standard input for `-`.

    Raises ManifestError.
    """
    return [manifest for source in sources for name, text in _texts(source) for manifest in _parse(text, name)]


def _texts(source: str) -> Iterator[tuple[str, str]]:
    if source == STDIN:
        yield "standard input", sys.stdin.read()
        return
    path = Path(source)
    try:
        files = sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES) if path.is_dir() else [path]
        for file in files:
            yield str(file), file.read_text(encoding="utf-8")
    except OSError as error:
        raise ManifestError(f"cannot read {error.filename or source}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ManifestError(f"cannot read {source}: it is not UTF-8 text (octet {error.start})") from error


def _parse(text: str, name: str) -> Iterator[Manifest]:
    for number, document in enumerate(_documents(text, name), start=1):
        if document is not None:
            where = f"{name}, document {number}"
            _require_json(document, where)
            yield from _unfold(document, where)


def _documents(text: str, name: str) -> list[object]:
    """JSON is read as such: it may hold characters that YAML has no place for."""
    try:
        return [orjson.loads(text)]
    except orjson.JSONDecodeError:
        pass
    try:
        return list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise ManifestError(f"{name} is neither YAML nor JSON: {' '.join(str(error).split())}") from error


def _require_json(document: object, where: str) -> None:
    try:
        orjson.dumps(document)
    except orjson.JSONEncodeError as error:
        raise ManifestError(f"{where}: holds what JSON cannot: {error}") from error


def _unfold(document: object, where: str) -> Iterator[Manifest]:
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ManifestError(f"{where}: found {kind_of(document)} without a kind, allowed are Kubernetes manifests")
    items = document.get("items")
    if document["kind"].endswith("List") and isinstance(items, list):
        for item in items:
            yield from _unfold(item, where)
    else:
        yield document


class _Dumper(yaml.CSafeDumper):
    """Writes each value in full; anchors would hide that record sets are independent."""

    def ignore_aliases(self, data: object) -> bool:
        return True


_PLAIN: Final = re.compile(r"[A-Za-z].*|[0-9]+(?:\.[0-9]+){3}", re.DOTALL)
_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def _represent_text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    """Quote what some YAML reader takes for a number or a truth value: `1e3` is a text here and a number to kubectl."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _represent_text)


class _Loader(yaml.CSafeLoader):
    """Leaves texts that look like dates or octal numbers to the fields that they stand in, as Kubernetes does."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
