"""Manifests as text: documents, their places and their faults."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cli.objects.document import Document, Fault, read_documents

SMALL = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
PLAIN = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=8,
)


def read_text(text: str, folder: Path, name: str = "m.yaml") -> tuple[list[Document], list[Fault]]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_documents([str(path)])


def contents(documents: list[Document]) -> list[dict[str, Any]]:
    return [document.content for document in documents]


@given(st.lists(st.dictionaries(PLAIN, VALUES, max_size=3), min_size=1, max_size=4), st.booleans())
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, data: list[Any], as_json: bool) -> None:
    manifests = [{**SMALL, "data": each} for each in data]
    text = json.dumps(manifests[0]) if as_json else yaml.safe_dump_all(manifests, allow_unicode=True)
    documents, faults = read_text(text, tmp_path_factory.mktemp("m"))
    assert faults == []
    assert contents(documents) == (manifests[:1] if as_json else manifests)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a:\n\tb: 1\n", "is not YAML: line 2, column 1: found a tab, YAML is indented with spaces"),
        ("a: 1\n\tb: 1\n", "is not YAML: line 2, column 1: found a tab, YAML is indented with spaces"),
        ("just text\n", "found a text, a manifest is a mapping with apiVersion, kind and metadata"),
    ],
)
def test_what_is_no_manifest_is_told_in_plain_words(text: str, fault: str, tmp_path: Path) -> None:
    assert [each.messages for each in read_text(text, tmp_path)[1]] == [(fault,)]


@pytest.mark.parametrize(
    "text",
    [
        "{0}\n---\n{0}\n",
        "---\n{0}\n---\n{0}\n",
        "# about\n---\n{0}\n---\n# nothing\n---\n\n--- # more\n{0}\n...\n",
        "%YAML 1.1\n---\n{0}\n...\n---\n{0}",
        "--- {0}\n--- {0}\n",
        "{0}\r\n---\r\n{0}\r\n",
    ],
)
def test_documents_are_numbered_as_they_stand(text: str, tmp_path: Path) -> None:
    documents, faults = read_text(text.format(json.dumps(SMALL)), tmp_path)
    assert (contents(documents), faults) == ([SMALL, SMALL], [])
    assert [document.place for document in documents] == [f"{tmp_path}/m.yaml (document {n})" for n in (1, 2)]


def test_a_separator_inside_a_text_separates_nothing(tmp_path: Path) -> None:
    text = yaml.safe_dump({**SMALL, "data": {"a": "x\n---\ny\n"}}, default_style="|")
    documents, _ = read_text(text, tmp_path)
    assert documents[0].content["data"] == {"a": "x\n---\ny\n"}


def test_dates_and_merges_are_read_as_kubernetes_does(tmp_path: Path) -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\none: &one {a: 2026-01-01, b: 2}\ntwo: {<<: *one, b: 3}\n"
    )
    documents, faults = read_text(text, tmp_path)
    assert faults == []
    assert documents[0].content["two"] == {"a": "2026-01-01", "b": 3}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"apiVersion": 1}, "apiVersion: found 1, allowed are VERSION and GROUP/VERSION"),
        ({"apiVersion": "x y/v1"}, "apiVersion: found 'x y/v1', allowed are VERSION and GROUP/VERSION"),
        ({"kind": ""}, "kind: found '', a word such as Zone is required"),
        ({"metadata": None}, "metadata: found None, a mapping with a name is required"),
        ({"metadata": {"generateName": "x"}}, "metadata.name: found None, a text is required"),
        ({"metadata": {"name": 1}}, "metadata.name: found 1, a text is required"),
        ({"metadata": {"name": "x", "namespace": 1}}, "metadata.namespace: found 1, a text is required"),
        ({"data": {1: "x"}}, "data: found the key 1, keys are texts: put it in quotes"),
        ({"data": [{"a": float("nan")}]}, "data[0].a: found nan, which JSON cannot hold: put it in quotes"),
    ],
)
def test_faults_of_a_manifest_by_itself(change: dict[str, Any], fault: str, tmp_path: Path) -> None:
    documents, faults = read_text(yaml.safe_dump({**SMALL, **change}), tmp_path)
    assert documents == []
    assert [each.messages for each in faults] == [(fault,)]


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 2}}'])
def test_a_key_that_stands_twice_in_json_is_a_fault(text: str, tmp_path: Path) -> None:
    _, (fault,) = read_text(text, tmp_path)
    assert "twice" in fault.messages[0]


def test_items_of_lists_have_places_too(tmp_path: Path) -> None:
    items = {"apiVersion": "v1", "kind": "ConfigMapList", "items": [SMALL, {"kind": "x"}]}
    documents, (fault,) = read_text(json.dumps(items), tmp_path)
    assert documents[0].place.endswith("m.yaml (document 1), item 1")
    assert fault.place.endswith("m.yaml (document 1), item 2")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"a: \xff")
    (tmp_path / "empty").mkdir()
    sources = [str(tmp_path / name) for name in ("latin.yaml", "empty", "absent")]
    documents, faults = read_documents(sources)
    assert documents == []
    assert [fault.messages[0] for fault in faults] == [
        "is not UTF-8 text (octet 3)",
        "holds no manifests: no file ends in .json, .yaml, .yml",
        "cannot be read: No such file or directory",
    ]


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(SMALL)))
    documents, faults = read_documents(["-"])
    assert faults == []
    assert documents[0].place == "standard input (document 1)"


def test_stages_put_first_what_others_need() -> None:
    kinds = ["RecordSet", "Zone", "Secret", "ZoneClass", "Namespace", "Provider", "CustomResourceDefinition"]
    documents = [Document("", {**SMALL, "kind": kind}) for kind in kinds]
    assert [each.kind for each in sorted(documents, key=lambda each: each.stage)] == [
        "CustomResourceDefinition",
        "Namespace",
        "Secret",
        "Provider",
        "ZoneClass",
        "Zone",
        "RecordSet",
    ]
