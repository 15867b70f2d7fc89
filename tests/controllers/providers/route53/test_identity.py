"""Route53Identity: what is refused, what STS says, and that no credential is anywhere to be read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from controllers.api.group import ZONES
from controllers.providers.route53.identity.admission import judge_spec, judge_status
from controllers.providers.route53.identity.resource import ROUTE53_IDENTITIES, IdentitySpec, Role
from controllers.providers.route53.identity.rule import static_faults
from controllers.providers.route53.session import Chain, Sessions, is_region, session_name
from kube.errors import Invalid
from kube.object import ObjectKey
from tests.controllers.providers.route53.fake.fault import Trouble
from tests.controllers.providers.route53.fake.server import FakeAws
from tests.controllers.providers.route53.world import (
    ACCOUNT,
    KEY_ID,
    OTHER_ACCOUNT,
    SECRET,
    World,
    entering,
    identity,
    zone,
    zone_class,
)

ROLE = f"arn:aws:iam::{OTHER_ACCOUNT}:role/dns-api-route53"
HOP = f"arn:aws:iam::{ACCOUNT}:role/hop"


async def ready(world: World, status: str, reason: str) -> dict[str, Any]:
    await world.condition(ROUTE53_IDENTITIES, "identity", "Ready", status, reason)
    found = await world.get(ROUTE53_IDENTITIES, "identity")
    status_of: dict[str, Any] = found["status"]
    return status_of


async def test_a_working_identity_tells_its_account_and_when_it_was_checked(world: World) -> None:
    await world.apply(identity())
    status = await ready(world, "True", "Ready")
    assert status["accountID"] == ACCOUNT
    assert status["lastCredentialCheckTime"] < status["nextCredentialCheckTime"]
    await world.event("identity", "Accepted")
    await world.event("identity", "Ready")
    calls = world.aws.count("GetCallerIdentity")
    await world.apply(identity(region="eu-west-1"))
    await ready(world, "True", "Ready")
    assert world.aws.count("GetCallerIdentity") == calls + 1, "it is checked when its spec changes and not otherwise"


async def test_the_wrong_account_is_told_and_not_tried_again(world: World) -> None:
    await world.apply(identity(accountID=OTHER_ACCOUNT))
    status = await ready(world, "False", "AccountMismatch")
    assert status["accountID"] == ACCOUNT
    assert "nextCredentialCheckTime" not in status
    (message,) = [each["message"] for each in status["conditions"] if each["type"] == "Ready"]
    assert ACCOUNT not in message
    assert OTHER_ACCOUNT not in message


async def test_roles_are_assumed_one_after_the_other(world: World) -> None:
    world.aws.identities.add_role(HOP)
    world.aws.identities.add_role(ROLE, "external-7")
    chain = [{"roleARN": HOP}, {"roleARN": ROLE, "externalID": "external-7", "sessionName": "dns-api-route53"}]
    await world.apply(identity(accountID=OTHER_ACCOUNT, assumeRoleChain=chain))
    status = await ready(world, "True", "Ready")
    assert status["accountID"] == OTHER_ACCOUNT
    (first, second) = world.aws.identities.sessions
    assert second == (ROLE, "dns-api-route53")
    assert first == (HOP, session_name(ObjectKey("team", "identity"), 0, Role(role_arn=HOP)))


async def test_a_refused_role_is_told_by_its_step(world: World) -> None:
    world.aws.identities.add_role(HOP)
    world.aws.identities.add_role(ROLE, "external-7")
    chain = [{"roleARN": HOP}, {"roleARN": ROLE, "externalID": "wrong"}]
    await world.apply(identity(accountID=OTHER_ACCOUNT, assumeRoleChain=chain))
    status = await ready(world, "False", "AssumeRoleFailed")
    (message,) = [each["message"] for each in status["conditions"] if each["type"] == "Ready"]
    assert "Step 2" in message
    assert "arn:" not in message


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Trouble.UNAVAILABLE, "ProviderUnavailable"),
        pytest.param(Trouble.THROTTLING, "ProviderUnavailable", marks=pytest.mark.slow),
        pytest.param(Trouble.CUT_BEFORE, "ProviderUnavailable", marks=pytest.mark.slow),
        (Trouble.NO_XML, "ProviderUnavailable"),
        (Trouble.DENIED, "ProviderAccessDenied"),
    ],
)
async def test_troubles_of_sts_are_told_and_pass(world: World, trouble: Trouble, reason: str) -> None:
    with world.aws.faults.lasting(trouble, "GetCallerIdentity"):
        await world.apply(identity())
        status = await ready(world, "False", reason)
        assert "nextCredentialCheckTime" in status
        await world.event("identity", reason)
    await ready(world, "True", "Ready")


async def test_a_ready_identity_bears_two_unanswered_checks_and_not_three(tmp_path: Path, aws: FakeAws) -> None:
    async with entering(tmp_path, aws, start=False) as world:
        world.config = replace(world.config, patience=replace(world.config.patience, credential_s=0.2))
        await world.start_manager()
        await world.apply(identity())
        await ready(world, "True", "Ready")
        with aws.faults.lasting(Trouble.UNAVAILABLE, "GetCallerIdentity"):
            await ready(world, "False", "ProviderUnavailable")
        assert sum(call.code != "" or call.account == "" for call in aws.calls) >= 3
        await ready(world, "True", "Ready")


def test_sessions_are_kept_and_renewed_before_they_end(aws: FakeAws) -> None:
    aws.identities.add_user(KEY_ID, SECRET, ACCOUNT)
    aws.identities.add_role(ROLE)
    moment = datetime.now(UTC)
    sessions = Sessions(aws.url, lambda: moment)
    body = {"accountID": OTHER_ACCOUNT, "region": "eu-central-1", "assumeRoleChain": [{"roleARN": ROLE}]}
    chain = Chain(ObjectKey("team", "identity"), IdentitySpec.model_validate(body))
    first = sessions.route53(chain)
    assert sessions.route53(chain) is first
    moment += timedelta(minutes=54)
    assert sessions.route53(chain) is first
    moment += timedelta(minutes=2)
    assert sessions.route53(chain) is not first
    assert len(aws.identities.sessions) == 2
    assert {name for _, name in aws.identities.sessions} == {
        session_name(chain.identity, 0, chain.spec.assume_role_chain[0])
    }


async def test_zones_are_kept_in_the_account_of_their_identity(world: World) -> None:
    world.aws.identities.add_role(ROLE)
    elsewhere = identity("elsewhere", accountID=OTHER_ACCOUNT, assumeRoleChain=[{"roleARN": ROLE}])
    await world.apply(identity(), elsewhere, zone_class(), zone_class("other", "elsewhere"))
    await world.apply(zone(), zone("second", "second.test", zone_class="other"))
    await world.programmed(ZONES, "zone")
    await world.programmed(ZONES, "second")
    assert {each.name: each.account for each in world.zones} == {
        "example.test.": ACCOUNT,
        "second.test.": OTHER_ACCOUNT,
    }


async def test_what_the_sdk_fails_with_unexpectedly_is_an_error_of_the_controller(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.set_up()
    with monkeypatch.context() as patch:

        def broken(*_: object, **__: object) -> None:
            raise OverflowError("planted")

        patch.setattr("botocore.client.BaseClient._make_api_call", broken)
        await world.request_look("broken")
        await world.condition(ZONES, "zone", "Programmed", "False", "ReconcileError")
        await world.apply(identity(region="eu-west-1"))
        await ready(world, "False", "ReconcileError")
    await ready(world, "True", "Ready")
    await world.programmed(ZONES, "zone")


async def test_a_profile_that_is_not_there_is_no_credential(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    await world.apply(identity())
    await ready(world, "False", "CredentialUnavailable")


async def test_a_web_identity_without_its_token_is_no_credential(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    await world.apply(identity())
    await ready(world, "False", "CredentialUnavailable")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    await ready(world, "True", "Ready")


async def test_without_a_credential_the_identity_waits_for_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    await world.apply(identity())
    await ready(world, "False", "CredentialUnavailable")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    await ready(world, "True", "Ready")


async def test_an_unknown_region_is_not_accepted(world: World) -> None:
    await world.apply(identity(region="mars-north-1"))
    found = await world.condition(ROUTE53_IDENTITIES, "identity", "Accepted", "False", "InvalidRegion")
    assert '"mars-north-1"' in found["message"]
    assert world.aws.calls == []
    await world.apply(identity())
    await ready(world, "True", "Ready")


async def test_admission_names_every_fault_at_once(world: World) -> None:
    chain = [{"roleARN": "admin", "sessionName": "a b", "externalID": "x"}]
    with pytest.raises(Invalid) as refusal:
        await world.apply(identity(accountID="1", region="Frankfurt", credentials={}, assumeRoleChain=chain))
    assert [cause.field for cause in refusal.value.causes] == [
        "spec.region",
        "spec.accountID",
        "spec.credentials",
        "spec.assumeRoleChain[0].roleARN",
        "spec.assumeRoleChain[0].externalID",
        "spec.assumeRoleChain[0].sessionName",
    ]


def test_policy_limits_accounts() -> None:
    spec = IdentitySpec.model_validate(
        {
            "accountID": OTHER_ACCOUNT,
            "region": "eu-central-1",
            "credentials": {"runtime": {}},
            "assumeRoleChain": [{"roleARN": ROLE}],
        }
    )
    assert list(static_faults(spec, frozenset(), is_region)) == []
    faults = list(static_faults(spec, frozenset({ACCOUNT}), is_region))
    assert {(each.field, each.reason.value) for each in faults} == {
        ("spec.accountID", "DeniedByPolicy"),
        ("spec.assumeRoleChain[0].roleARN", "DeniedByPolicy"),
    }


@pytest.mark.parametrize("region", ["eu-central-1", "us-gov-west-1", "cn-north-1", "ap-northeast-1"])
def test_regions_of_all_partitions_are_known(region: str) -> None:
    assert is_region(region)


def test_session_names_are_stable_and_short() -> None:
    key = ObjectKey("a" * 63, "b" * 253)
    role = Role(role_arn=ROLE)
    assert session_name(key, 0, role) == session_name(key, 0, role)
    assert session_name(key, 0, role) != session_name(key, 1, role)
    assert len(session_name(key, 0, role)) == 64


def test_a_status_speaks_in_the_words_of_its_kind() -> None:
    def faults(**status: Any) -> list[str]:
        new = {"metadata": {"generation": 2}, "spec": {}, "status": status}
        return [each.field for each in judge_status(new, None)]

    ready = {"type": "Ready", "status": "True", "reason": "Ready", "observedGeneration": 2}
    assert faults(observedGeneration=2, conditions=[ready], accountID=ACCOUNT) == []
    assert faults(observedGeneration=3) == ["status.observedGeneration"]
    assert faults(accountID="me") == ["status.accountID"]
    assert faults(conditions=[{**ready, "reason": "Fine"}]) == ["status.conditions[0].reason"]
    assert faults(conditions=[{**ready, "status": "Unknown"}]) == ["status.conditions[0].status"]
    assert faults(conditions=[{**ready, "type": "Programmed"}]) == ["status.conditions[0].type"]
    assert faults(conditions=[ready, ready]) == ["status.conditions[1]"]
    assert [each.field for each in judge_spec({"spec": {"region": 1}}, None)] == ["spec.region"]
