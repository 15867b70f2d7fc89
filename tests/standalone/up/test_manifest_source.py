"""Manifests named by -f: what is read, in which order it is applied, and what a broken file costs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from kube.access import Access
from kube.client import Client
from kube.errors import NotFound
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from standalone.up.manifest_source import ManifestError, ManifestSource, Problem, files_below, read

CONFIG_MAPS = ResourceRef("", "v1", "configmaps", "ConfigMap")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with ApiServer(tmp_path / "api") as api, Client(Access(api.url)) as client:
        yield client


def config_map(name: str, value: str = "1", namespace: str | None = None) -> str:
    where = f"\n  namespace: {namespace}" if namespace else ""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}{where}\ndata:\n  key: '{value}'\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_folder_means_its_manifest_files_in_order(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "c.yml", "notes.txt"):
        write(tmp_path / name, "{}")
    assert [path.name for path in files_below([tmp_path])] == ["a.json", "b.yaml", "c.yml"]


def test_documents_and_lists_are_taken_apart(tmp_path: Path) -> None:
    text = config_map("one") + "---\n# nothing\n---\nkind: List\napiVersion: v1\nitems:\n"
    text += "- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}}\n"
    found = read(write(tmp_path / "m.yaml", text))
    assert [(each.content["metadata"]["name"], each.number) for each in found] == [("one", 1), ("two", 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2", "is not YAML: line 1"),
        ("- 1\n- 2\n", "document 1 is a list, a manifest is a mapping"),
        ("kind: ConfigMap\nmetadata: {name: x}\n", "document 1: apiVersion is missing"),
        ("apiVersion: v1\nmetadata: {name: x}\n", "document 1: kind is missing"),
        ("apiVersion: v1\nkind: ConfigMap\n", "document 1: metadata.name is missing"),
    ],
)
def test_a_broken_file_is_told_by_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read(write(tmp_path / "m.yaml", text))
    assert message in str(caught.value)


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(b"a: \xff")
    with pytest.raises(ManifestError, match="is not UTF-8 text"):
        read(path)


async def test_namespaces_come_before_what_they_hold(client: Client, tmp_path: Path) -> None:
    write(tmp_path / "1.yaml", config_map("one", namespace="team"))
    write(tmp_path / "2.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n")
    applied, problems = await ManifestSource(client, [tmp_path]).apply_all()
    assert problems == []
    assert [each.content["kind"] for each in applied] == ["Namespace", "ConfigMap"]
    assert (await client.get(CONFIG_MAPS, name="one", namespace="team"))["data"] == {"key": "1"}


async def test_a_bad_manifest_keeps_nobody_else_back(client: Client, tmp_path: Path) -> None:
    write(tmp_path / "1.yaml", "a: [")
    write(tmp_path / "2.yaml", config_map("one") + "---\napiVersion: v9\nkind: Nothing\nmetadata: {name: x}\n")
    write(tmp_path / "3.yaml", config_map("lost", namespace="missing"))
    applied, problems = await ManifestSource(client, [tmp_path]).apply_all()
    assert [each.content["metadata"]["name"] for each in applied] == ["one"]
    assert [problem.place for problem in problems] == [
        str(tmp_path / "1.yaml"),
        f"{tmp_path / '2.yaml'} (document 2)",
        f"{tmp_path / '3.yaml'} (document 1)",
    ]
    assert (await client.get(CONFIG_MAPS, name="one", namespace="default"))["data"] == {"key": "1"}


async def test_an_unknown_field_is_refused(client: Client, tmp_path: Path) -> None:
    write(tmp_path / "1.yaml", config_map("one") + "dta: {}\n")
    _, problems = await ManifestSource(client, [tmp_path]).apply_all()
    assert len(problems) == 1
    assert "dta" in problems[0].message
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAPS, name="one", namespace="default")


async def test_changed_and_new_files_are_applied_again(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standalone.up.manifest_source.POLL_S", 0.01)
    write(tmp_path / "1.yaml", config_map("one"))
    source = ManifestSource(client, [tmp_path])
    await source.apply_all()
    reports: asyncio.Queue[tuple[int, Sequence[Problem]]] = asyncio.Queue()
    follower = asyncio.create_task(source.follow(lambda count, problems: reports.put_nowait((count, problems))))
    try:
        write(tmp_path / "2.yaml", config_map("two"))
        assert await reports.get() == (1, [])
        write(tmp_path / "1.yaml", config_map("one", "changed"))
        assert await reports.get() == (1, [])
        (tmp_path / "2.yaml").unlink()
        write(tmp_path / "1.yaml", "a: [")
        count, problems = await reports.get()
        assert (count, len(problems)) == (0, 1)
    finally:
        follower.cancel()
        await asyncio.wait({follower})
    assert (await client.get(CONFIG_MAPS, name="one", namespace="default"))["data"] == {"key": "changed"}
    assert (await client.get(CONFIG_MAPS, name="two", namespace="default"))["data"] == {"key": "1"}
