"""Kustomizations with the same content as the chart: the default installation, and with further providers.

Each provider that is off by default is a component, which can be laid over the default beside any other. Owns how rendered objects
become files. What stands in them is the chart's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final

import yaml

from controllers.manifests import render
from tests.helm.chart import Manifest
from tests.helm.chart import render as render_chart
from tests.helm.chart_file import kept_definitions
from tests.helm.place import NAMESPACE

COMPONENTS: Final = {name: (f"providers.{name}.enabled=true",) for name in ("external", "hosted")}
OVERLAYS: Final = {**{name: (name,) for name in COMPONENTS}, "everything": tuple(COMPONENTS)}
"""Which components each overlay lays over the default."""
_HEAD: Final = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
_COMPONENT: Final = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}
_NAMESPACE: Final = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}

Place = tuple[str, str, str]


def kustomize_files() -> Iterator[tuple[str, str]]:
    """Yield (path, content) of every file."""
    default = installed()
    resources = []
    for definition in kept_definitions():
        resources.append(f"definitions/{definition['metadata']['name']}.yaml")
        yield f"default/{resources[-1]}", render(definition)
    for manifest in (_NAMESPACE, *default.values()):
        resources.append(_file_name(manifest))
        yield f"default/{resources[-1]}", render(manifest)
    yield "default/kustomization.yaml", render({**_HEAD, "resources": resources})
    for name, settings in COMPONENTS.items():
        yield from _component(name, default, installed(*settings))
    for name, components in OVERLAYS.items():
        laid = [f"../components/{each}" for each in components]
        yield f"{name}/kustomization.yaml", render({**_HEAD, "resources": ["../default"], "components": laid})


def installed(*settings: str) -> dict[Place, Manifest]:
    """Return what the chart installs, by place and without what only helm means."""
    return {place_of(each): each for each in map(_plain, render_chart(*settings))}


def place_of(manifest: Manifest) -> Place:
    """Return kind, namespace and name."""
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def _plain(manifest: Manifest) -> Manifest:
    text = json.dumps(manifest)
    plain: Manifest = json.loads(
        text.replace('"app.kubernetes.io/managed-by": "Helm"', '"app.kubernetes.io/managed-by": "kustomize"')
    )
    for metadata in (plain["metadata"], plain.get("spec", {}).get("template", {}).get("metadata", {})):
        metadata.get("labels", {}).pop("helm.sh/chart", None)
    return plain


def _component(name: str, default: dict[Place, Manifest], wanted: dict[Place, Manifest]) -> Iterator[tuple[str, str]]:
    assert default.keys() <= wanted.keys(), "a component takes nothing away"
    folder = f"components/{name}"
    resources: list[str] = []
    patches: list[dict[str, Any]] = []
    for place, manifest in wanted.items():
        if place not in default:
            resources.append(_file_name(manifest))
            yield f"{folder}/{resources[-1]}", render(manifest)
        elif operations := list(difference(default[place], manifest, "")):
            target = {"kind": place[0], "name": place[2], **({"namespace": place[1]} if place[1] else {})}
            patches.append({"path": f"patch-{place[0].lower()}-{place[2]}.yaml", "target": target})
            yield f"{folder}/{patches[-1]['path']}", yaml.safe_dump(operations, sort_keys=False, width=120)
    yield f"{folder}/kustomization.yaml", render({**_COMPONENT, "resources": resources, "patches": patches})


def _file_name(manifest: Manifest) -> str:
    kind, namespace, name = place_of(manifest)
    elsewhere = f"{namespace}-" if namespace not in ("", NAMESPACE) else ""
    return f"{kind.lower()}-{elsewhere}{name}.yaml"


def difference(old: Any, new: Any, path: str) -> Iterator[dict[str, Any]]:
    """Yield the operations of RFC 6902 that make `new` of `old` but for the order of lists, to whose ends they add.

    Places in lists stay what they were then, so that several differences from the same `old` can be applied one after the other.
    """
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() <= new.keys():
        for key, value in new.items():
            at = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key in old:
                yield from difference(old[key], value, at)
            else:
                yield {"op": "add", "path": at, "value": value}
    elif isinstance(old, list) and isinstance(new, list):
        yield from _difference_of_lists(old, new, path)
    else:
        yield {"op": "replace", "path": path, "value": new}


def _difference_of_lists(old: list[Any], new: list[Any], path: str) -> Iterator[dict[str, Any]]:
    before, after = ([json.dumps(each) for each in side] for side in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    steps = matcher.get_opcodes()
    for tag, old_from, old_to, new_from, new_to in steps:
        assert tag in ("equal", "insert") or (tag == "replace" and old_to - old_from == new_to - new_from), path
        for number in range(new_from, new_to):
            if tag == "insert":
                yield {"op": "add", "path": f"{path}/-", "value": new[number]}
            elif tag == "replace":
                place = old_from + number - new_from
                yield from difference(old[place], new[number], f"{path}/{place}")
