"""The kustomizations build, and install exactly what the chart does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helm.chart import Manifest, container
from tests.helm.chart_file import kept_definitions
from tests.helm.kind_check import faults
from tests.helm.kustomization import COMPONENTS, OVERLAYS, difference, installed, place_of
from tests.helm.place import BIN, KUSTOMIZE, NAMESPACE, ROOT

CASES: dict[str, tuple[str, ...]] = {
    "default": (),
    **{name: sum((COMPONENTS[each] for each in laid), ()) for name, laid in OVERLAYS.items()},
}
UNORDERED = {"rules", "matchConditions"}
"""Lists whose order means nothing to the API, and which components add to."""


def build(folder: Path) -> list[Manifest]:
    """Return what kubectl makes of a folder, which it does without a word."""
    command = [str(BIN / "kubectl"), "kustomize", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return list(yaml.load_all(done.stdout, Loader=yaml.CSafeLoader))


@pytest.mark.parametrize("name", CASES)
def test_a_kustomization_installs_what_the_chart_installs(name: str) -> None:
    objects = build(KUSTOMIZE / name)
    built = {place_of(each): each for each in objects}
    assert len(built) == len(objects), "no object stands twice"
    expected = installed(*CASES[name])
    expected |= {place_of(each): each for each in kept_definitions()}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    expected[place_of(namespace)] = namespace
    assert built.keys() == expected.keys()
    for place, manifest in built.items():
        assert ordered(manifest) == ordered(expected[place]), place


@pytest.mark.parametrize("name", CASES)
def test_every_object_of_a_kustomization_is_valid(name: str) -> None:
    built = [each for each in build(KUSTOMIZE / name) if each["kind"] != "CustomResourceDefinition"]
    assert [fault for each in built for fault in faults(each)] == []


def test_external_adds_its_conversion_and_no_other_right() -> None:
    text = (KUSTOMIZE / "components" / "external" / "patch-clusterrole-dns-api-manager.yaml").read_text(
        encoding="utf-8"
    )
    (operation,) = yaml.safe_load(text)
    assert operation["value"] == {
        "apiGroups": ["endpoint.external.dns.appthrust.io"],
        "resources": ["endpointrecordsetconversions"],
        "verbs": ["create"],
    }


def test_an_overlay_of_ones_own_sets_images_and_chooses_components(tmp_path: Path) -> None:
    """As docs/kubernetes.md has it; kubectl takes no absolute paths, so the installation is copied beside it."""
    shutil.copytree(KUSTOMIZE, tmp_path / "config")
    page = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    (overlay,) = re.findall(r"```yaml\n(apiVersion: kustomize\.config\.k8s\.io.*?)```", page, re.DOTALL)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "kustomization.yaml").write_text(overlay, encoding="utf-8")
    built = build(tmp_path / "own")
    assert {each["metadata"]["name"] for each in built if each["kind"] == "Provider"} == {
        f"{name}.dns.appthrust.io" for name in ("cloudflare", "external", "hosted", "route53")
    }
    for component in ("manager", "server"):
        assert container(built, component)["image"] == f"registry.example.com/dns-api-{component}:0.1.0"


def ordered(value: Any, key: str = "") -> Any:
    """Return a manifest with the lists that have no order in one."""
    if isinstance(value, dict):
        return {name: ordered(each, name) for name, each in value.items()}
    if isinstance(value, list):
        items = [ordered(each) for each in value]
        return sorted(items, key=json.dumps) if key in UNORDERED else items
    return value


def test_a_difference_leaves_alone_what_stays() -> None:
    old = {"a": {"b/c": 1}, "list": ["x", "y"], "same": [1]}
    new = {"a": {"b/c": 2, "d": 3}, "list": ["x", "w", "y"], "same": [1]}
    assert list(difference(old, new, "")) == [
        {"op": "replace", "path": "/a/b~1c", "value": 2},
        {"op": "add", "path": "/a/d", "value": 3},
        {"op": "add", "path": "/list/-", "value": "w"},
    ]
