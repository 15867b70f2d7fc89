"""Classes that are written in another served version of the Provider: their parameters are judged by it and converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from controllers.api.condition import Condition, find_condition
from controllers.api.group import PROVIDERS
from controllers.providers.hosted.contract import provider_manifest
from kube.object import ObjectKey
from tests.controllers.core.admission.authority import Authority
from tests.controllers.core.build import schema
from tests.controllers.core.conversion.webhook import ConversionServer, failure, uid_of
from tests.controllers.providers.hosted.world import TEAM, World, item

SERVERS = {"servers": ["ns1.dns.test", "ns2.dns.test"]}
TO_STORAGE = "{'parameters': {'nameServers': self.parameters.servers.map(s, {'name': s})}}"
OLDER: dict[str, Any] = {"provider": {"name": "hosted.dns.appthrust.io", "version": "v1alpha0"}, "parameters": SERVERS}


def accepted(world: World) -> Condition | None:
    found = world.informers.zone_classes.get(ObjectKey(TEAM, "hosted"))
    return find_condition(found.status.conditions, "Accepted") if found is not None else None


async def add_version(world: World, to_storage: dict[str, Any]) -> None:
    """Let the Provider serve v1alpha0 too, whose parameters are a list of names."""
    (version,) = provider_manifest()["spec"]["versions"]
    names = {"type": "array", "maxItems": 16, "items": {"type": "string", "maxLength": 253}}
    older = {
        **version,
        "name": "v1alpha0",
        "storage": False,
        "zoneClass": {
            "schemas": {"parameters": schema(servers=names)},
            "validationRules": [
                {"rule": "self.spec.parameters.servers.size() > 1", "message": "Two servers at least."}
            ],
            "conversion": {"toStorage": to_storage},
        },
    }
    spec = {"spec": {"versions": [version, older]}}
    await world.client.patch_merge(PROVIDERS, spec, name=world.config.binding.provider_name)


async def test_parameters_are_converted_by_expression(world: World) -> None:
    await add_version(world, {"cel": TO_STORAGE})
    await world.start_servers("ns-a")
    await world.zone_class(**OLDER)
    await world.until(lambda: world.says(accepted(world), "True", "Accepted"))
    await world.unit("example", [item("www")])
    await world.until(lambda: world.is_programmed("example", "www"))


@pytest.mark.parametrize(
    ("parameters", "expression", "words"),
    [
        ({"servers": ["ns1.dns.test"]}, TO_STORAGE, "Two servers at least."),
        ({"servers": "ns1.dns.test"}, TO_STORAGE, "spec.parameters.servers"),
        (
            SERVERS,
            "{'parameters': {'nameServers': self.parameters.servers}}",
            "failed: hosted.dns.appthrust.io/v1alpha1",
        ),
        (SERVERS, "{'parameters': {'nameServers': [{'name': 'Ns.dns.test'}]}}", "nameServers[0].name"),
    ],
)
async def test_parameters_that_cannot_be_had_in_the_storage_version_are_invalid(
    world: World, parameters: dict[str, Any], expression: str, words: str
) -> None:
    await add_version(world, {"cel": expression})
    await world.zone_class(**{**OLDER, "parameters": parameters})
    await world.until(lambda: world.says(accepted(world), "False", "InvalidParameters"))
    found = accepted(world)
    assert found is not None
    assert words in found.message


async def test_parameters_are_converted_by_webhook(world: World, tmp_path: Path) -> None:
    (tmp_path / "tls").mkdir()
    async with ConversionServer(Authority(), tmp_path / "tls") as webhook:
        down = True

        async def handle(request: web.Request) -> web.StreamResponse:
            return web.Response(status=503) if down else await webhook.convert(request)

        webhook.handler = handle
        webhook.convert_payload = lambda request: {
            "parameters": {"nameServers": [{"name": name} for name in request["payload"]["parameters"]["servers"]]}
        }
        await add_version(world, {"webhook": webhook.declaration()})
        await world.start_servers("ns-a")
        await world.zone_class(**OLDER)
        await world.until(lambda: world.says(accepted(world), "Unknown", "ProviderStorageVersionNotResolved"))
        found = accepted(world)
        assert found is not None
        assert "is not available: Service dns-system/convert answered with HTTP status 503." in found.message
        assert webhook.requests[0]["request"]["target"] == "ZoneClass"
        assert webhook.requests[0]["request"]["context"] == {}

        down = False
        await world.until(lambda: world.says(accepted(world), "True", "Accepted"))
        await world.unit("example", [item("www")])
        await world.until(lambda: world.is_programmed("example", "www"))


async def test_a_refusal_of_the_webhook_makes_parameters_invalid(world: World, tmp_path: Path) -> None:
    (tmp_path / "tls").mkdir()
    async with ConversionServer(Authority(), tmp_path / "tls") as webhook:

        async def refuse(request: web.Request) -> web.StreamResponse:
            return web.json_response(failure(await uid_of(request), retryable=False, message="too old"))

        webhook.handler = refuse
        await add_version(world, {"webhook": webhook.declaration()})
        await world.zone_class(**OLDER)
        await world.until(lambda: world.says(accepted(world), "False", "InvalidParameters"))
        found = accepted(world)
        assert found is not None
        assert "failed: the webhook says Unsupported: too old." in found.message
