"""What is checked in under crds/ is what the Python types say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from controllers.manifests import files, manifests, render
from tests.rules.source import ROOT

CRDS = [manifest for manifest in manifests() if manifest["kind"] == "CustomResourceDefinition"]


def test_the_checked_in_manifests_are_the_generated_ones() -> None:
    generated = {name: render(manifest) for name, manifest in files()}
    directory = ROOT / "crds"
    checked_in = {
        str(path.relative_to(directory)): path.read_text(encoding="utf-8") for path in directory.rglob("*.yaml")
    }
    assert checked_in.keys() == generated.keys(), "run `make manifests`"
    for name, text in generated.items():
        assert checked_in[name] == text, f"crds/{name} is out of date: run `make manifests`"


def test_rendering_keeps_the_content() -> None:
    for manifest in manifests():
        assert yaml.safe_load(render(manifest)) == manifest


def properties(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, child in schema.get("properties", {}).items():
        yield f"{path}.{name}", child
        yield from properties(child, f"{path}.{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), Mapping):
            yield from properties(schema[inner], f"{path}[]")


@pytest.mark.parametrize("crd", CRDS, ids=lambda crd: crd["spec"]["names"]["kind"])
def test_every_field_is_typed_and_described(crd: Mapping[str, Any]) -> None:
    for version in crd["spec"]["versions"]:
        for path, field in properties(version["schema"]["openAPIV3Schema"], ""):
            if path == ".metadata":  # the API server describes it and refuses a definition that does
                continue
            assert field.get("description"), f"{path} has no description"
            assert field.get("type"), f"{path} has no type"
            assert field["description"][0].isupper(), path
            assert field["description"].endswith((".", ")")), path


@pytest.mark.parametrize("crd", CRDS, ids=lambda crd: crd["spec"]["names"]["kind"])
def test_every_list_says_how_it_merges(crd: Mapping[str, Any]) -> None:
    for version in crd["spec"]["versions"]:
        for path, field in properties(version["schema"]["openAPIV3Schema"], ""):
            if field["type"] != "array":
                continue
            assert field.get("x-kubernetes-list-type") in {"map", "set", "atomic"}, path
            if field["x-kubernetes-list-type"] == "map":
                keys = set(field["x-kubernetes-list-map-keys"])
                assert keys <= set(field["items"]["properties"]), path
                assert keys <= set(field["items"]["required"]), path
