"""No credential, account, role or text of AWS where people and programs read: logs, events, conditions, whole objects."""

from __future__ import annotations

import json
import secrets
import traceback
from collections.abc import Iterator

import pytest
import structlog

from controllers.api.group import PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.providers.route53.identity.resource import ROUTE53_IDENTITIES
from tests.controllers.providers.route53.fake.fault import Fault, Trouble
from tests.controllers.providers.route53.world import (
    ACCOUNT,
    OTHER_ACCOUNT,
    TEAM,
    Object,
    World,
    a,
    cname,
    identity,
    zone,
    zone_class,
)

ROLE = f"arn:aws:iam::{OTHER_ACCOUNT}:role/planted-role"
EXTERNAL_ID = "planted-external-id"
KINDS = (ZONE_CLASSES, ZONES, RECORD_SETS, ZONE_UNITS, ROUTE53_IDENTITIES)
WORDS_OF_AWS = ("not authorized", "security token", "FATAL problem", "Rate exceeded", "is not permitted")


@pytest.fixture
def log() -> Iterator[list[str]]:
    """Every line that is logged, tracebacks and all."""
    lines: list[str] = []

    def keep(_: object, __: str, event: structlog.types.EventDict) -> str:
        error = event.get("exc_info")
        lines.append(repr(event))
        if isinstance(error, BaseException):
            lines.append("".join(traceback.format_exception(error)))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[keep], cache_logger_on_first_use=False)
    yield lines
    structlog.configure(**before)


async def everything(world: World) -> tuple[list[Object], list[str]]:
    """All objects, and every message that people read."""
    objects = [each for ref in KINDS for each in (await world.client.list(ref, namespace=TEAM)).items]
    messages = [condition["message"] for each in objects for condition in _conditions(each)]
    messages += [event["message"] for event in await world.events()]
    return objects, messages


def _conditions(obj: Object) -> Iterator[Object]:
    status = obj.get("status", {})
    yield from status.get("conditions", ())
    yield from status.get("zone", {}).get("conditions", ())
    for entry in status.get("recordSets", ()):
        yield from entry.get("conditions", ())


async def test_planted_secrets_are_nowhere_to_be_read(world: World, log: list[str]) -> None:
    identities = world.aws.identities
    identities.add_role(ROLE, EXTERNAL_ID)
    chain = [{"roleARN": ROLE, "externalID": EXTERNAL_ID}]
    await world.restart_manager()
    await world.apply(
        identity(accountID=ACCOUNT, assumeRoleChain=chain), zone_class(zoneDeletionPolicy="Delete"), zone()
    )
    await world.condition(ROUTE53_IDENTITIES, "identity", "Ready", "False", "AccountMismatch")
    await world.apply(identity(accountID=OTHER_ACCOUNT, assumeRoleChain=[{**chain[0], "externalID": "wrong"}]))
    await world.condition(ROUTE53_IDENTITIES, "identity", "Ready", "False", "AssumeRoleFailed")
    await world.apply(identity(accountID=OTHER_ACCOUNT, assumeRoleChain=chain))
    await world.programmed(ZONES, "zone")

    marker = secrets.token_hex(8)
    for trouble, operation in (
        (Trouble.DENIED, "ListResourceRecordSets"),
        (Trouble.DENIED, "ChangeResourceRecordSets"),
        (Trouble.THROTTLING, "ListResourceRecordSets"),
        (Trouble.HALF_ANSWER, "ListResourceRecordSets"),
        (Trouble.NO_XML, "GetHostedZone"),
    ):
        world.aws.faults.plan(Fault(trouble, operation))
        await world.request_look(f"{trouble}-{operation}-{marker}")
        await world.apply(a(f"r-{secrets.token_hex(3)}"))
    await world.apply(cname("deep", "x.example.net"), a("www"))
    with world.aws.lock:
        world.zone.apply(
            [
                (
                    "CREATE",
                    {
                        "Name": "bad.example.test.",
                        "Type": "A",
                        "TTL": "60",
                        "ResourceRecords": [{"Value": "192.0.2.1"}],
                    },
                )
            ]
        )
    await world.apply(cname("bad", "x.example.net"))
    await world.condition(RECORD_SETS, "bad", "Programmed", "False", "ProviderConflict")
    await world.programmed(RECORD_SETS, "www")

    objects, messages = await everything(world)
    logged = "\n".join(log)
    assert messages
    assert "route 53 could not be asked" in logged, "the log is looked at"
    private = [*identities.secrets, EXTERNAL_ID]
    assert len(identities.secrets) > 4, "sessions were begun"
    for secret in identities.secrets:
        assert secret not in json.dumps(objects)
    for text in (logged, *messages):
        for secret in (*private, ACCOUNT, OTHER_ACCOUNT, "arn:", "planted-role", *WORDS_OF_AWS):
            assert secret not in text, f"{secret[:4]}… stands in: {text[:200]}"


async def test_a_caller_reference_stays_in_the_private_state(world: World) -> None:
    await world.set_up(a("www"))
    reference = world.zone.reference
    for ref in (ZONE_CLASSES, ZONES, RECORD_SETS, ROUTE53_IDENTITIES, PROVIDERS):
        listing = await world.client.list(ref, namespace=TEAM if ref.namespaced else "")
        assert reference not in json.dumps(listing.items)
    (unit,) = (await world.client.list(ZONE_UNITS, namespace=TEAM)).items
    assert unit["status"]["provider"]["state"].pop("callerReference") == reference
    assert reference not in json.dumps(unit["spec"])
    unit["metadata"].pop("managedFields", None)
    assert reference not in json.dumps(unit)
    assert all(reference not in event["message"] for event in await world.events())
