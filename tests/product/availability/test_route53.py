"""A leader that dies in the middle of a batch for Route 53: the next one finishes it, and nothing is changed twice there."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections import Counter
from pathlib import Path

import pytest

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.providers.route53.identity import ROUTE53_IDENTITIES
from kube.client import Client
from tests.controllers.providers.route53 import world as aws_world
from tests.controllers.providers.route53.fake.server import FakeAws, serving
from tests.product.availability.cluster import leader, running
from tests.product.stage import Stage

WORDS = (
    "--no-hosted-controller-enabled",
    "--route53-controller-enabled",
    "--no-cloudflare-controller-enabled",
    "--route53-change-check-seconds=0.2",
)
REFS = {each.kind: each for each in (ZONE_CLASSES, ZONES, RECORD_SETS, ROUTE53_IDENTITIES)}
COUNT = 60


async def apply(client: Client, namespace: str, *manifests: aws_world.Object) -> None:
    for each in manifests:
        own = {**each, "metadata": {"namespace": namespace, **each["metadata"]}}
        await client.apply(REFS[each["kind"]], own, manager="test", force=True)


def assert_nothing_was_done_twice(aws: FakeAws) -> None:
    assert aws.count("CreateHostedZone") == 1
    done = Counter(
        (change["Action"], change["ResourceRecordSet"]["Name"], change["ResourceRecordSet"]["Type"])
        for call in aws.calls
        if call.operation == "ChangeResourceRecordSets"
        for change in call.request["ChangeBatch"]["Changes"]
    )
    assert {what: times for what, times in done.items() if times > 1} == {}
    assert [call.code for call in aws.calls if call.operation == "ChangeResourceRecordSets" and call.code] == []


@pytest.mark.parametrize(
    "signum", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)], ids=["told to end", "killed"]
)
async def test_the_next_leader_finishes_a_batch(tmp_path: Path, signum: signal.Signals) -> None:
    with serving(FakeAws()) as aws:
        aws.identities.add_user(aws_world.KEY_ID, aws_world.SECRET, aws_world.ACCOUNT)
        environment = aws_world.runtime_credentials() | {"AWS_ENDPOINT_URL": aws.url}
        async with running(tmp_path, WORDS, environment) as cluster, cluster.connect() as client:
            cluster.start_manager("first")
            assert await leader(client) == "first"
            cluster.start_manager("second")
            namespace = f"test-{secrets.token_hex(4)}"
            await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            stage = Stage(client, cluster.server.dns, namespace, aws_world.DOMAIN)
            await apply(client, namespace, aws_world.identity(), aws_world.zone_class(), aws_world.zone())
            await stage.until_programmed(ZONES, "zone")
            names = [f"host-{number}" for number in range(COUNT)]
            await apply(client, namespace, *map(aws_world.a, names[: COUNT // 2]))
            ending = asyncio.to_thread(cluster.managers["first"].end, signum)
            await asyncio.gather(ending, apply(client, namespace, *map(aws_world.a, names[COUNT // 2 :])))
            await stage.until_all_programmed(RECORD_SETS, names, limit_s=60)
            assert await leader(client) == "second"
        assert_nothing_was_done_twice(aws)
