"""What the controller says of ZoneClasses that are bound to it."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.api.condition import Condition, find_condition
from controllers.api.group import PROVIDERS
from controllers.providers.hosted.contract import provider_manifest
from kube.object import ObjectKey
from tests.controllers.providers.hosted.world import PARAMETERS, TEAM, World


def accepted(world: World) -> Condition | None:
    found = world.informers.zone_classes.get(ObjectKey(TEAM, "hosted"))
    return find_condition(found.status.conditions, "Accepted") if found is not None else None


async def test_class_is_accepted_for_its_generation(world: World) -> None:
    await world.zone_class()
    await world.until(lambda: world.says(accepted(world), "True", "Accepted"))
    patch = {"spec": {"parameters": {"negativeTTL": 60}}}
    await world.client.patch_merge(world.class_ref, patch, namespace=TEAM, name="hosted")

    def is_current() -> bool:
        found = accepted(world)
        return found is not None and found.observed_generation == 2

    await world.until(is_current)


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        (
            {"provider": {"name": "other.example", "version": "v1alpha1"}},
            "InvalidProvider",
            "found other.example/v1alpha1, allowed: hosted.dns.appthrust.io/v1alpha1",
        ),
        (
            {"provider": {"name": "hosted.dns.appthrust.io", "version": "v2"}},
            "InvalidProvider",
            'spec.provider.version: found "v2"',
        ),
        ({"identityRef": {"name": "me"}}, "InvalidIdentityRef", 'spec.identityRef: found "me"'),
        ({"parameters": {}}, "InvalidParameters", "spec.parameters.nameServers: found nothing"),
        (
            {"parameters": {**PARAMETERS, "negativeTTL": -1, "color": "red"}},
            "InvalidParameters",
            "spec.parameters.negativeTTL: found -1, allowed: 0 or more; spec.parameters.color: found",
        ),
    ],
)
async def test_class_that_cannot_be_followed_is_refused(
    world: World, spec: dict[str, Any], reason: str, words: str
) -> None:
    await world.zone_class(**spec)
    await world.until(lambda: world.says(accepted(world), "False", reason))
    found = accepted(world)
    assert found is not None
    assert words in found.message


async def test_class_waits_for_the_provider(world: World) -> None:
    await world.client.delete(PROVIDERS, name=world.config.binding.provider_name)
    await world.zone_class()
    await world.until(lambda: world.says(accepted(world), "Unknown", "ProviderStorageVersionNotResolved"))
    await world.client.create(PROVIDERS, provider_manifest())
    await world.until(lambda: world.says(accepted(world), "True", "Accepted"))


async def test_storage_version_that_this_controller_does_not_run_is_refused(world: World) -> None:
    manifest = provider_manifest()
    (version,) = manifest["spec"]["versions"]
    newer = {**version, "name": "v1"}
    versions = {"spec": {"versions": [{**version, "storage": False}, newer]}}
    await world.client.patch_merge(PROVIDERS, versions, name=world.config.binding.provider_name)
    await world.zone_class()
    await world.until(lambda: world.says(accepted(world), "False", "InvalidProvider"))
