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

from controllers.api.crd import custom_resource_definitions, definition_of
from controllers.apps.endpoint.installation import api_service
from controllers.apps.endpoint.kind import KINDS as ENDPOINT_KINDS
from controllers.core.admission.handler import Admission
from controllers.core.admission.installation import webhook_manifests
from controllers.core.admission.lookup import NoLookups
from controllers.registry import REGISTRATIONS


def files() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (relative path, manifest) of every file, definitions before the objects that need them."""
    yield from _installation()
    # A kind without a handler could not be written at all, so those of providers that are off by default are left out.
    kinds = [*ENDPOINT_KINDS, *(kind for each in REGISTRATIONS if each.enabled for kind in each.kinds)]
    for name, manifest in webhook_manifests(Admission(NoLookups(), kinds).hooks()):
        yield f"webhook/{name}", manifest
    for conversion in (each.endpoint for each in REGISTRATIONS if each.enabled and each.endpoint is not None):
        service = api_service(conversion)
        yield f"apiservices/{service['metadata']['name']}.yaml", service


def manifests() -> list[Mapping[str, Any]]:
    """Return the manifests that every API needs, in the order to install them; how admission is reached is no part of them."""
    return [manifest for _, manifest in _installation()]


def definitions() -> Iterator[dict[str, Any]]:
    """Yield the CustomResourceDefinition of every kind, those of apps and providers too."""
    yield from custom_resource_definitions()
    yield from (definition_of(own.kind) for own in ENDPOINT_KINDS)
    yield from (definition_of(own.kind) for each in REGISTRATIONS for own in each.kinds)


def _installation() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for definition in definitions():
        yield f"{definition['metadata']['name']}.yaml", definition
    for provider in (each.provider_manifest() for each in REGISTRATIONS):
        yield f"providers/{provider['metadata']['name']}.yaml", provider
    for conversion in (each.endpoint for each in REGISTRATIONS if each.endpoint is not None):
        capability = conversion.capability()
        yield f"capabilities/{capability['metadata']['name']}.yaml", capability


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
