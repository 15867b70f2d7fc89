"""`dns-api doctor`: a sound installation passes, and each fault is told with what to do about it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.doctor.installation import examine_lease
from kube.config import connect
from kube.lease import LEASES
from kube.timestamp import micro_time_text
from tests.cli.command import Cli
from tests.cli.conftest import Up
from tests.cli.manifest import text, zone, zone_class
from tests.product.patience import until


def examined(cli: Cli) -> dict[str, Any]:
    return dict(json.loads(cli.run("doctor", "-o", "json").stdout))


def found(report: dict[str, Any], check: str) -> dict[str, tuple[str, str]]:
    return {each["subject"]: (each["result"], each["message"]) for each in report["findings"] if each["check"] == check}


def test_a_sound_installation_is_found_sound(everywhere: Cli, served_zone: str) -> None:
    report = examined(everywhere)
    assert {result for result, _ in found(report, "definitions").values()} == {"ok"}
    assert found(report, "providers")["hosted.dns.appthrust.io"] == ("ok", "it is there")
    assert found(report, "admission")["webhook"] == ("ok", "it answers, and refuses what is wrong")
    assert found(report, "rights") == {"these credentials": ("ok", "they have what a manager needs")}
    assert [result for result, _ in found(report, "manager").values()] == ["ok"]
    assert [result for result, _ in found(report, "servers").values()] == ["ok"]
    assert found(report, "delegation")[served_zone][0] in {"warning", "skipped"}


def test_what_waits_is_told_with_its_reason_and_what_to_do(
    cli: Cli, everywhere: Cli, namespace: str, domain: str
) -> None:
    cli.ok("apply", "-f", "-", stdin=text(zone_class(), zone(domain, zone_class="absent")))
    subject = f"zones/{namespace}/zone"
    try:
        until(lambda: "ZoneClassNotResolved" in found(examined(everywhere), "objects")[subject][1], "the reason")
        reply = everywhere.run("doctor")
        assert reply.code == 1
        report = examined(everywhere)
        assert found(report, "objects")[subject][0] == "failed"
        assert "failed" not in {
            result for result, _ in found(report, "servers").values()
        }  # nobody said that it is served
        assert f"dns-api describe -n {namespace} zones zone; docs/conditions.md" in reply.stdout
    finally:
        cli.ok("delete", "zone/zone")


@pytest.mark.parametrize(
    ("duration_s", "age_s", "told"),
    [(15, 50, "first leads"), (15, 70, "has not renewed"), (300, 280, "first leads"), (300, 350, "has not renewed")],
)
async def test_a_lease_that_has_run_out_is_told(up: Up, namespace: str, duration_s: int, age_s: int, told: str) -> None:
    renewed = micro_time_text(datetime.now(UTC) - timedelta(seconds=age_s))
    spec = {"holderIdentity": "first", "leaseDurationSeconds": duration_s, "renewTime": renewed}
    metadata = {"namespace": namespace, "name": "dns-api-manager"}
    async with connect(up.kubeconfig, field_manager="test") as client:
        await client.create(
            LEASES, {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata, "spec": spec}
        )
        assert told in (await examine_lease(client, namespace)).message


def test_without_an_api_the_command_says_so(home: Path, up: Up) -> None:
    nowhere = home / "nowhere"
    nowhere.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", up.kubeconfig.read_text()), encoding="utf-8")
    reply = Cli({"KUBECONFIG": str(nowhere), "HOME": str(home)}).run("doctor")
    assert reply.code == 1
    assert "no answer from the API" in reply.stderr
