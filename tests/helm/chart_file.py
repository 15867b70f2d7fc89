"""The files of the chart that follow from the Python types: definitions, Providers, capabilities, webhook entries.

Owns their names and content. Whether they are used is for the templates to decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import yaml

from controllers.apps.endpoint.kind import KINDS as ENDPOINT_KINDS
from controllers.core.admission.handler import Admission, Hook
from controllers.core.admission.installation import validating_webhook_configuration
from controllers.core.admission.lookup import NoLookups
from controllers.core.providercontract.own_kind import OwnKind
from controllers.manifests import definitions, render
from controllers.registry import REGISTRATIONS

KEPT: Final = {
    "argocd.argoproj.io/sync-options": "Delete=false,Prune=false",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
}
"""Helm never takes definitions away, and with them every claim; Argo CD and Flux have to be told not to."""


def kept_definitions() -> Iterator[dict[str, Any]]:
    """Yield every definition as it is installed."""
    for each in definitions():
        yield {**each, "metadata": {**each["metadata"], "annotations": KEPT}}


def chart_files() -> Iterator[tuple[str, str]]:
    """Yield (path within the chart, content) of every generated file."""
    for definition in kept_definitions():
        yield f"crds/{definition['metadata']['name']}.yaml", render(definition)
    core = _hooks(ENDPOINT_KINDS)
    yield "files/core/webhooks.yaml", _entries(core)
    for each in REGISTRATIONS:
        folder = f"files/{each.name}"
        yield f"{folder}/provider.yaml", render(each.provider_manifest())
        own = _hooks([*ENDPOINT_KINDS, *each.kinds])[len(core) :]
        yield f"{folder}/webhooks.yaml", _entries(own)
        if each.endpoint is not None:
            resource = each.endpoint.resource
            api = {"group": resource.group, "version": resource.version, "resource": resource.plural}
            yield f"{folder}/capability.yaml", render(each.endpoint.capability())
            yield f"{folder}/conversion.yaml", render(api)


def _hooks(kinds: tuple[OwnKind, ...] | list[OwnKind]) -> list[Hook]:
    return list(Admission(NoLookups(), kinds).hooks())


def _entries(hooks: list[Hook]) -> str:
    entries: list[dict[str, Any]] = validating_webhook_configuration(hooks)["webhooks"]
    return yaml.safe_dump(entries, sort_keys=False, width=120)
