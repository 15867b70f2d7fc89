"""What a waiver is told: by the claim that there is, also when there is none any more."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controllers.api.record_withdrawal import (
    ADDRESS_LABEL,
    RECORD_WITHDRAWALS,
    RecordWithdrawal,
    address_label,
    parse_record_withdrawal,
)
from controllers.api.record_withdrawal_waiver import RECORD_WITHDRAWAL_WAIVERS
from controllers.core.withdrawal.digest import spec_digest
from controllers.core.withdrawal.informer import WithdrawalInformers
from controllers.core.withdrawal.reconciler import WaiverReconciler, judged_status
from controllers.core.withdrawal.waiver import object_to_waiver
from controllers.runtime.recorder import EventRecorder
from kube.access import Access
from kube.client import Client
from kube.resource import ResourceRef
from kube.store import Change
from kube.transport import REQUESTS
from standalone.apiserver.server import ApiServer
from standalone.up.install import install
from tests.controllers.core import build
from tests.controllers.core.withdrawal.build import waiver, withdrawal
from tests.kube.virtual_loop import eventually


def test_a_waiver_that_names_its_claim_exactly_is_accepted() -> None:
    claim = withdrawal()
    status = judged_status(waiver(claim, metadata={"generation": 3}), claim, build.NOW)
    (accepted,) = status.conditions
    assert (accepted.status, accepted.reason, accepted.message) == ("True", "Accepted", "")
    assert (status.observed_generation, accepted.observed_generation) == (3, 3)


@pytest.mark.parametrize(
    ("difference", "field"),
    [
        ({"claimRef": {"name": "old-ip", "uid": "another"}}, "spec.claimRef.uid"),
        ({"specDigest": "sha256:" + "0" * 64}, "spec.specDigest"),
        ({"address": "192.0.2.2"}, "spec.address"),
    ],
)
def test_a_waiver_is_told_what_differs(difference: dict[str, Any], field: str) -> None:
    claim = withdrawal()
    (accepted,) = judged_status(waiver(claim, **difference), claim, build.NOW).conditions
    assert (accepted.status, accepted.reason) == ("False", "InvalidWaiver")
    assert accepted.message.startswith(field)


@pytest.mark.parametrize("others", [withdrawal(namespace="other"), withdrawal("new-ip")], ids=["namespace", "name"])
def test_a_waiver_does_not_count_for_the_claim_of_another_namespace_or_name(others: RecordWithdrawal) -> None:
    claim = withdrawal()
    ref = {"name": claim.meta.name, "uid": others.meta.uid}
    told = object_to_waiver(waiver(claim, claimRef=ref, specDigest=spec_digest(others)), others)
    assert told == "RecordWithdrawal team/old-ip does not exist."


def test_an_address_that_is_not_canonical_releases_nothing() -> None:
    claim = withdrawal(address="2001:DB8::1")
    assert (object_to_waiver(waiver(claim), claim) or "").startswith("spec.address: found 2001:DB8::1")


def test_a_waiver_whose_claim_has_gone_is_told_so() -> None:
    claim = withdrawal()
    (accepted,) = judged_status(waiver(claim), None, build.NOW).conditions
    assert (accepted.status, accepted.reason) == ("False", "InvalidWaiver")
    assert accepted.message == "RecordWithdrawal team/old-ip does not exist."


def _manifest(ref: ResourceRef, name: str, spec: dict[str, Any], **labels: str) -> dict[str, Any]:
    metadata = {"namespace": "default", "name": name, "labels": labels}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec}


async def test_a_waiver_follows_its_claim_and_is_left_alone_when_nothing_is_different(tmp_path: Path) -> None:
    spec = withdrawal().spec.dump()
    claim = _manifest(RECORD_WITHDRAWALS, "old-ip", spec, **{ADDRESS_LABEL: address_label(spec["address"])})

    async with ApiServer(tmp_path) as api, Client(Access(api.url)) as client, asyncio.TaskGroup() as tasks:
        await install(client)
        informers = WithdrawalInformers.over(client)
        informers.register_indexes()
        reconciler = WaiverReconciler(client, informers, EventRecorder(client, "test"))
        work = (informers.claims.run(), informers.waivers.run(), reconciler.controller.run())
        running = [tasks.create_task(each) for each in work]

        def told() -> list[str]:
            return [each.message for _, found in informers.waivers.items() for each in found.status.conditions]

        made = await client.create(RECORD_WITHDRAWALS, claim)
        release = waiver(parse_record_withdrawal(made)).spec.dump()
        await client.create(RECORD_WITHDRAWAL_WAIVERS, _manifest(RECORD_WITHDRAWAL_WAIVERS, "release", release))
        await eventually(lambda: told() == [""])
        far = withdrawal(namespace="default")  # its Zone is in another namespace, its waivers are not
        assert [each.meta.name for each in informers.waivers_for([far])["default"]] == ["release"]
        await client.delete(RECORD_WITHDRAWALS, namespace="default", name="old-ip")
        await eventually(lambda: told() == ["RecordWithdrawal default/old-ip does not exist."])
        await client.create(RECORD_WITHDRAWALS, claim)
        await eventually(lambda: told() and "spec.claimRef.uid: found" in told()[0])
        before = Counter(REQUESTS)
        (key,) = (each for each, _ in informers.waivers.items())
        await reconciler.reconcile(key)
        assert not Counter(REQUESTS) - before
        (found,) = (each for _, each in informers.claims.items())
        another = replace(found, meta=replace(found.meta, uid="another"))
        assert list(reconciler._keys_for_claim(Change(found.key, found, another))) == [key], "as a relist tells it"
        assert list(reconciler._keys_for_claim(Change(found.key, found, found))) == []
        for each in running:
            each.cancel()
