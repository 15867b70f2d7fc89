"""The manifests that an installation starts with: CustomResourceDefinitions and Providers, all made from the Python types.

Beside them, what a cluster needs to call the webhook. `python -m controllers.manifests DIR` writes them; the files in `crds/` are its
output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from controllers.api.crd import custom_resource_definitions
from controllers.core.admission.handler import Admission
from controllers.core.admission.installation import webhook_manifests
from controllers.core.admission.lookup import NoLookups
from controllers.providers.hosted.contract import provider_manifest as hosted


def files() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (relative path, manifest) of every file, definitions before the objects that need them."""
    yield from _installation()
    for name, manifest in webhook_manifests(Admission(NoLookups()).hooks()):
        yield f"webhook/{name}", manifest


def manifests() -> list[Mapping[str, Any]]:
    """Return the manifests that every API needs, in the order to install them; how admission is reached is no part of them."""
    return [manifest for _, manifest in _installation()]


def _installation() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for definition in custom_resource_definitions():
        yield f"{definition['metadata']['name']}.yaml", definition
    for provider in (hosted(),):
        yield f"providers/{provider['metadata']['name']}.yaml", provider


def render(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as the YAML text that is checked in."""
    return yaml.safe_dump(dict(manifest), sort_keys=False, allow_unicode=True, width=120)


def write(directory: Path) -> None:
    """Write every manifest below `directory`."""
    for name, manifest in files():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render(manifest), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
