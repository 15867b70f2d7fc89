"""An identity is ready when its token works and sees exactly one account; nobody learns the token."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from controllers.api.group import RECORD_SETS, SECRETS, ZONES
from controllers.providers.cloudflare.identity.resource import CLOUDFLARE_IDENTITIES
from kube.errors import KubeError
from kube.timestamp import time_text
from tests.controllers.providers.cloudflare.fake.failure import Kind
from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare
from tests.controllers.providers.cloudflare.world import (
    IDENTITY,
    PATIENCE,
    SECRET,
    TEAM,
    TOKEN,
    ZONE,
    World,
    a,
    identity,
    secret,
    zone,
    zone_class,
)

Spoil = Callable[[FakeCloudflare], object]


async def until_ready(world: World, reason: str = "Ready") -> None:
    status = "True" if reason == "Ready" else "False"
    await world.until(lambda: world.says(world.identity, "Ready", status, reason))


async def test_a_working_token_is_told_of_without_being_told(world: World) -> None:
    world.cloudflare.state.tokens[TOKEN].expires_on = "2999-01-01T00:00:00Z"
    await world.apply(secret(f"{TOKEN}\n"))
    await world.apply(identity())
    await until_ready(world)
    found = world.identity
    assert found is not None
    assert found.status.account is not None
    assert found.status.account.dump() == {"id": world.account, "name": "Example Inc.", "type": "standard"}
    assert found.status.access_token is not None
    assert found.status.access_token.status == "active"
    assert found.status.access_token.expires_on == "2999-01-01T00:00:00Z"
    assert found.status.last_credential_check_time is not None
    assert found.status.next_credential_check_time is not None
    assert world.says(found, "Accepted", "True", "Accepted")
    await world.until_event(IDENTITY, "Ready")


async def test_a_check_is_not_repeated_by_its_own_status(world: World) -> None:
    await world.apply(secret())
    await world.apply(identity())
    await until_ready(world)
    await world.quiet()
    assert [call.path for call in world.cloudflare.calls] == ["/user/tokens/verify", "/accounts"]


def disable(fake: FakeCloudflare) -> None:
    fake.state.tokens[TOKEN].status = "disabled"


def expire(fake: FakeCloudflare) -> None:
    fake.state.tokens[TOKEN].expires_on = time_text(datetime.now(UTC) - timedelta(minutes=1))


def forget(fake: FakeCloudflare) -> None:
    del fake.state.tokens[TOKEN]


def hide(fake: FakeCloudflare) -> None:
    fake.state.tokens[TOKEN].accounts.clear()


def double(fake: FakeCloudflare) -> None:
    fake.state.tokens[TOKEN].accounts.append(fake.state.add_account("Second"))


def break_down(fake: FakeCloudflare) -> None:
    fake.fail(Kind.BAD_GATEWAY_HTML, times=2)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (disable, "AccessTokenInactive"),
        (expire, "AccessTokenInactive"),
        (forget, "AccessTokenInvalid"),
        (hide, "CloudflareAccountNotFound"),
        (double, "CloudflareAccountAmbiguous"),
        (break_down, "ProviderUnavailable"),
    ],
)
async def test_a_token_that_does_not_do_is_told_of(world: World, spoil: Spoil, reason: str) -> None:
    spoil(world.cloudflare)
    await world.set_up()
    await world.apply(a("www"))
    await until_ready(world, reason)
    if reason == "ProviderUnavailable":
        await until_ready(world)
        return
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ProviderIdentityNotReady"))
    await world.until(lambda: world.record_says("www", "False", "ProviderIdentityNotReady"))
    assert world.says(world.zone_class, "Accepted", "True", "Accepted")
    assert world.cloudflare.writes == []
    assert await everything(world, TOKEN) == []


async def test_secrets_that_come_later_and_change_are_followed(world: World) -> None:
    await world.apply(identity())
    await until_ready(world, "SecretNotFound")
    await world.apply({**secret(), "data": {"other": "AA=="}})
    await until_ready(world, "AccessTokenUnavailable")
    await world.apply(secret("two words"))
    await until_ready(world, "AccessTokenUnavailable")
    await world.apply(secret("unknown"))
    await until_ready(world, "AccessTokenInvalid")
    await world.apply(secret())
    await until_ready(world)
    await world.delete(SECRETS, SECRET)
    await until_ready(world, "SecretNotFound")
    found = world.identity
    assert found is not None
    assert found.status.account is None


async def test_zones_go_on_with_a_new_token_and_rest_without_one(world: World) -> None:
    await world.ready_zone()
    world.cloudflare.state.add_token("second-token", world.account)
    await world.apply(secret("second-token"))
    await until_ready(world)
    del world.cloudflare.state.tokens[TOKEN]
    await world.publish(a("www"))
    await world.delete(SECRETS, SECRET)
    await world.until(lambda: world.record_says("www", "False", "ProviderIdentityNotReady"))
    await world.delete(RECORD_SETS, "www")
    await world.quiet()
    assert len(world.records()) == 1, "what cannot be reached is not called deleted"
    await world.apply(secret("second-token"))
    await world.until_gone(RECORD_SETS, "www")
    assert world.records() == []


async def test_a_token_that_is_refused_later_is_checked_again(world: World) -> None:
    await world.ready_zone()
    del world.cloudflare.state.tokens[TOKEN]
    await world.apply(a("www"))
    await until_ready(world, "AccessTokenInvalid")
    await world.until(lambda: world.record_says("www", "False", "ProviderIdentityNotReady"))


async def test_a_token_that_one_request_refuses_and_another_calls_active_is_not_checked_all_the_time(
    tmp_path: Path, installation: Path
) -> None:
    async with World(tmp_path, installation, patience=replace(PATIENCE, refusal_s=60.0)) as world:
        await world.ready_zone()
        fault = world.cloudflare.fail(Kind.UNAUTHORIZED, lambda call: call.path.startswith("/zones"), times=10_000)
        world.cloudflare.calls.clear()
        await world.apply(a("www"))
        await world.until_async(lambda: _is(fault.times <= 10_000 - 8))
        assert [call for call in world.cloudflare.calls if call.path == "/user/tokens/verify"] == []
        fault.times = 0
        await world.until(lambda: world.is_programmed("www"))


async def test_an_outage_takes_no_working_identity_away(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www"))
    await world.stop_manager()
    await world.start_manager()
    await world.look_again()
    world.cloudflare.fail(Kind.SERVER_ERROR, lambda call: call.path == "/user/tokens/verify", times=100)
    await world.publish(a("two"))
    assert world.says(world.identity, "Ready", "True", "Ready")


async def test_a_class_waits_for_its_identity(world: World) -> None:
    await world.apply(zone_class())
    await world.apply(zone())
    await world.until(lambda: world.says(world.zone_class, "Accepted", "Unknown", "IdentityNotResolved"))
    await world.until(lambda: world.says(world.zone, "Accepted", "Unknown", "IdentityNotResolved"))
    await world.apply(secret())
    await world.apply(identity())
    await world.until(lambda: world.says(world.zone_class, "Accepted", "True", "Accepted"))
    await world.until(lambda: world.says(world.zone, "Programmed", "True", "Programmed"))
    await world.delete(CLOUDFLARE_IDENTITIES, IDENTITY)
    await world.until(lambda: world.says(world.zone_class, "Accepted", "Unknown", "IdentityNotResolved"))
    await world.delete_and_wait(ZONES, ZONE)


async def test_admission_names_every_fault_of_an_identity(world: World) -> None:
    with pytest.raises(KubeError) as refusal:
        await world.apply(identity("Not_A_Name", "no key"))
    for field in ("spec.accessToken.secretRef.name", "spec.accessToken.secretRef.key"):
        assert field in refusal.value.message
    await world.apply(identity())
    status = {"status": {"observedGeneration": 9, "conditions": [condition("Ready", "True", "Accepted")]}}
    with pytest.raises(KubeError) as refusal:
        await world.client.patch_merge(
            CLOUDFLARE_IDENTITIES, status, namespace=TEAM, name=IDENTITY, subresource="status"
        )
    assert "observedGeneration" in refusal.value.message
    assert "reason" in refusal.value.message


async def test_the_token_is_shown_nowhere(
    world: World, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    await world.ready_zone()
    await world.publish(a("www"))
    for kind in (Kind.SERVER_ERROR, Kind.NOT_SUCCESS, Kind.OK_HTML, Kind.HANG_UP):
        world.cloudflare.fail(kind, lambda call: "dns_records" in call.path)
        await world.look_again()
    del world.cloudflare.state.tokens[TOKEN]
    await world.apply(a("two"))
    await until_ready(world, "AccessTokenInvalid")
    await world.quiet()
    assert await everything(world, TOKEN) == []
    shown = capfd.readouterr()
    assert TOKEN not in shown.out + shown.err + caplog.text


async def everything(world: World, text: str) -> list[str]:
    """The objects, Secrets apart, in which a text stands, plain or encoded."""
    forms = (text, base64.b64encode(text.encode()).decode())
    objects = [(ref, obj) for ref in world.all_refs for obj in (await world.client.list(ref, namespace=TEAM)).items]
    return [f"{ref.kind} {obj['metadata']['name']}" for ref, obj in objects if any(form in repr(obj) for form in forms)]


def condition(kind: str, status: str, reason: str) -> dict[str, object]:
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": "2026-01-01T00:00:00Z"}


async def _is(value: bool) -> bool:
    return value
