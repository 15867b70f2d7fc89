"""The kustomizations build, and install exactly what the chart does."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from controllers.manifests import definitions
from tests.helm.chart import Manifest
from tests.helm.kind_check import faults
from tests.helm.kustomization import OVERLAYS, difference, installed, place_of
from tests.helm.place import BIN, KUSTOMIZE, NAMESPACE

CASES = {"default": (), **OVERLAYS}


def build(name: str) -> list[Manifest]:
    command = [str(BIN / "kubectl"), "kustomize", str(KUSTOMIZE / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return list(yaml.load_all(done.stdout, Loader=yaml.CSafeLoader))


@pytest.mark.parametrize("name", CASES)
def test_a_kustomization_installs_what_the_chart_installs(name: str) -> None:
    built = {place_of(each): each for each in build(name)}
    expected = installed(*CASES[name])
    expected |= {place_of(each): each for each in definitions()}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    expected[place_of(namespace)] = namespace
    assert built.keys() == expected.keys()
    for place, manifest in built.items():
        assert manifest == expected[place], place


@pytest.mark.parametrize("name", CASES)
def test_every_object_of_a_kustomization_is_valid(name: str) -> None:
    built = [each for each in build(name) if each["kind"] != "CustomResourceDefinition"]
    assert [fault for each in built for fault in faults(each)] == []


def test_external_adds_its_conversion_and_no_other_right() -> None:
    text = (KUSTOMIZE / "external" / "patch-clusterrole-dns-api-manager.yaml").read_text(encoding="utf-8")
    (operation,) = yaml.safe_load(text)
    assert operation["value"] == {
        "apiGroups": ["endpoint.external.dns.appthrust.io"],
        "resources": ["endpointrecordsetconversions"],
        "verbs": ["create"],
    }


def test_a_difference_leaves_alone_what_stays() -> None:
    old = {"a": {"b/c": 1}, "list": ["x", "y"], "same": [1]}
    new = {"a": {"b/c": 2, "d": 3}, "list": ["x", "w", "y"], "same": [1]}
    assert list(difference(old, new, "")) == [
        {"op": "replace", "path": "/a/b~1c", "value": 2},
        {"op": "add", "path": "/a/d", "value": 3},
        {"op": "add", "path": "/list/1", "value": "w"},
    ]
