"""The product writes what changes and nothing else."""

from __future__ import annotations

import pytest

from controllers.api.group import RECONCILE_REQUEST, RECORD_SETS, ZONE_UNITS, ZONES
from controllers.runtime.recorder import EVENTS
from kube.client import Client
from kube.object import ObjectKey
from tests.product.claim import ZONE, claim, zone
from tests.product.stage import EVERYTHING, Stage
from tests.product.writes import every_resource, moment, writes_since

SETTLED_S = 2
QUIET_S = 20
SPEC_AND_STATUS = 3  # the spec and its status; on a slow machine a status that says "not yet" comes between
MANY = [claim(f"host-{number}", "A", f"192.0.2.{number}") for number in range(50)]
LARGE = [claim(f"text-{number}", "TXT", "x" * 2000) for number in range(50)]


async def test_an_edit_writes_its_claim_the_ledger_and_the_snapshot(stage: Stage) -> None:
    await stage.set_up(*MANY)
    start = await moment(stage.client, EVERYTHING)
    edited = claim(MANY[7].owner, "A", "198.51.100.1")
    await stage.publish(edited)
    written = await writes_since(stage.client, start, SETTLED_S, stage.namespace)
    touched = {("RecordSet", edited.name), ("ZoneUnit", ZONE), ("HostedZone", ZONE)}
    assert written.keys() == {(kind, ObjectKey(stage.namespace, name)) for kind, name in touched}
    assert max(written.values()) <= SPEC_AND_STATUS


async def test_an_edit_of_a_large_zone_writes_one_page(stage: Stage) -> None:
    await stage.set_up(*LARGE)
    start = await moment(stage.client, EVERYTHING)
    edited = claim(LARGE[7].owner, "TXT", "y" * 2000)
    await stage.publish(edited)
    written = await writes_since(stage.client, start, SETTLED_S, stage.namespace)
    pages = {key: count for (kind, key), count in written.items() if kind == "HostedZone" and key.name != ZONE}
    others = {(kind, key.name) for kind, key in written if key not in pages}
    assert list(pages.values()) == [1, 1]  # the new page came, the old one went
    assert others == {("RecordSet", edited.name), ("ZoneUnit", ZONE), ("HostedZone", ZONE)}
    assert max(written.values()) <= SPEC_AND_STATUS


async def test_applying_the_same_again_writes_nothing(stage: Stage) -> None:
    await stage.set_up(*MANY[:5])
    start = await moment(stage.client, EVERYTHING)
    await stage.apply(zone(stage.domain))
    for each in MANY[:5]:
        await stage.apply(each.manifest())
    assert await writes_since(stage.client, start, SETTLED_S, stage.namespace) == {}


async def test_a_refused_claim_touches_no_other(stage: Stage) -> None:
    await stage.set_up(*MANY[:5])
    start = await moment(stage.client, EVERYTHING)
    rival = claim(MANY[0].owner, "A", "192.0.2.200").manifest(name="rival")
    await stage.apply(rival)
    await stage.until_condition(RECORD_SETS, "rival", "Accepted", "False", "RecordSetConflict")
    written = await writes_since(stage.client, start, SETTLED_S, stage.namespace)
    assert written.keys() == {("RecordSet", ObjectKey(stage.namespace, "rival"))}
    assert max(written.values()) <= SPEC_AND_STATUS


async def test_a_reconcile_request_goes_to_the_ledger_and_changes_nothing(stage: Stage) -> None:
    await stage.set_up(*MANY[:5])
    refs = [ref for ref in await every_resource(stage.client) if ref.kind != EVENTS.kind]  # of either group
    start = await moment(stage.client, refs)
    request = {"metadata": {"annotations": {RECONCILE_REQUEST: "now"}}}
    await stage.client.patch_merge(ZONES, request, namespace=stage.namespace, name=ZONE)
    await stage.until_there(
        ZONE_UNITS, ZONE, lambda obj: obj["metadata"].get("annotations", {}).get(RECONCILE_REQUEST) == "now"
    )
    written = await writes_since(stage.client, start, SETTLED_S, stage.namespace)
    assert written == {("Zone", ObjectKey(stage.namespace, ZONE)): 1, ("ZoneUnit", ObjectKey(stage.namespace, ZONE)): 1}


@pytest.mark.slow
async def test_a_quiet_product_writes_nothing(client: Client, stage: Stage) -> None:
    await stage.set_up(*MANY, *LARGE)
    refs = await every_resource(client)
    await writes_since(client, await moment(client, refs), SETTLED_S)
    start = await moment(client, refs)
    assert await writes_since(client, start, QUIET_S) == {}
