"""Rows that change something for the whole product for a moment: its own Provider, or which of its name servers are live."""

from __future__ import annotations

from typing import Any

from controllers.api.group import ENDPOINT_SLICES, PROVIDERS
from controllers.manifests import manifests
from standalone.up.config import SERVER_SERVICE, SYSTEM_NAMESPACE
from tests.product.claim import PROVIDER, zone, zone_class
from tests.product.contract.other_provider import IDENTITY
from tests.product.contract.row import WWW, row
from tests.product.stage import Stage


async def hosted_provider_is_gone(stage: Stage) -> None:
    await stage.set_up()
    await stage.client.delete(PROVIDERS, name=PROVIDER["name"])


async def hosted_provider_declares_an_identity(stage: Stage) -> None:
    """So that admission lets a class through that names one, which the controller knows nothing of."""
    provider = _hosted_provider()
    provider["spec"]["versions"][0]["identity"] = IDENTITY
    await stage.client.apply(PROVIDERS, provider, manager="dns-api-up", force=True)
    named = zone_class()
    named["spec"]["identityRef"] = {"name": "account"}
    await stage.apply(named)


async def provider_is_back(stage: Stage) -> None:
    await stage.client.apply(PROVIDERS, _hosted_provider(), manager="dns-api-up", force=True)


async def no_server_is_live(stage: Stage) -> None:
    await _set_ready(stage, False)
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))
    await stage.apply(WWW.manifest())


async def server_is_live(stage: Stage) -> None:
    await _set_ready(stage, True)


ALONE = [
    row(
        hosted_provider_is_gone,
        "ZoneClass Accepted=Unknown ProviderStorageVersionNotResolved",
        "Zone Accepted=False InvalidProvider",
        undo=provider_is_back,
    ),
    row(hosted_provider_declares_an_identity, "ZoneClass Accepted=False InvalidIdentityRef", undo=provider_is_back),
    row(
        no_server_is_live,
        "Zone Programmed=False ProviderUnavailable",
        "RecordSet Programmed=False ProviderUnavailable",
        undo=server_is_live,
    ),
]


def _hosted_provider() -> dict[str, Any]:
    named = [each for each in manifests() if (each["kind"], each["metadata"]["name"]) == ("Provider", PROVIDER["name"])]
    return dict(named[0])


async def _set_ready(stage: Stage, ready: bool) -> None:
    name, namespace = SERVER_SERVICE, SYSTEM_NAMESPACE
    found = await stage.client.get(ENDPOINT_SLICES, name=name, namespace=namespace)
    endpoints = [{**each, "conditions": {"ready": ready}} for each in found["endpoints"]]
    await stage.client.patch_merge(ENDPOINT_SLICES, {"endpoints": endpoints}, name=name, namespace=namespace)
