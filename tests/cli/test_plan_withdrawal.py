"""`dns-api plan` and withdrawals: what a plan holds, lets go on or refuses, without writing anything."""

from __future__ import annotations

import json
from typing import Any

from controllers.api.record_withdrawal import address_label
from tests.cli.command import Cli
from tests.cli.manifest import PROVIDER, manifest, record_set, text

REFUSED, CHANGED = 1, 2


def withdrawal(name: str, owner: str, address: str) -> dict[str, Any]:
    spec = {"zoneRef": {"name": "zone"}, "provider": PROVIDER, "name": owner, "address": address}
    return manifest("RecordWithdrawal", name, spec, labels={"dns.appthrust.io/address": address_label(address)})


def lines(cli: Cli, *manifests: dict[str, Any], code: int = CHANGED) -> list[str]:
    result = cli.run("plan", "-f", "-", stdin=text(*manifests))
    assert (result.code, result.stderr) == (code, ""), result
    return result.stdout.splitlines()


def test_what_becomes_of_withdrawals_is_told_in_their_zone(cli: Cli, namespace: str, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www", "192.0.2.7")))
    cli.ok("wait", "rrset/www")
    old, wrong = withdrawal("old", "www", "192.0.2.7"), withdrawal("wrong", "*", "192.0.2.7")

    assert lines(cli, old) == [
        f"= Zone {namespace}/zone ({served_zone})",
        f"  + www withdrawn from 192.0.2.7, RecordWithdrawal {namespace}/old",
        f"      held: given by RecordSet {namespace}/www",
        "  1 untouched",
        "Plan: 1 to create, 0 to change, 0 to delete, 1 untouched",
    ]
    both = lines(cli, old, record_set("www", "192.0.2.8"))
    assert both[2:6] == [
        "      a.addresses: -192.0.2.7 +192.0.2.8",
        f"  + www withdrawn from 192.0.2.7, RecordWithdrawal {namespace}/old",
        "      to be proven: no RecordSet gives the address; every server has to be seen without it twice, a TTL apart",
        "Plan: 1 to create, 1 to change, 0 to delete",
    ]
    refused = lines(cli, wrong, code=REFUSED)
    assert refused[1] == f"  ! * withdrawn from 192.0.2.7, RecordWithdrawal {namespace}/wrong"
    assert refused[2].startswith("      refused: NotAllowed: ")
    assert cli.run("withdrawal", "list").stdout == "", "a plan writes nothing"


def test_a_change_that_concerns_withdrawals_which_are_there_tells_of_them(
    cli: Cli, namespace: str, served_zone: str
) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www", "192.0.2.7")))
    cli.ok("apply", "-f", "-", stdin=text(withdrawal("old", "www", "192.0.2.7")))
    cli.ok("wait", "recordwithdrawal/old", "--for", "condition=Withdrawn=False", "--timeout", "25s")

    told = cli.run("plan", "-f", "-", "-o", "json", stdin=text(record_set("www", "192.0.2.8")))
    (zone,) = json.loads(told.stdout)["zones"]
    assert zone["withdrawals"] == [
        {
            "namespace": namespace,
            "name": "old",
            "recordName": "www",
            "address": "192.0.2.7",
            "effect": "none",
            "accepted": {"status": "True", "reason": "Accepted", "message": ""},
            "outlook": "to be proven",
            "givenBy": [],
            "waiver": None,
        }
    ]
    assert "RecordWithdrawal" not in "".join(lines(cli, record_set("api")))

    claim = cli.object("recordwithdrawal/old")
    words = ["--reason", "Gone.", "--reservation", "ipam.example/Hold/edge", "--reservation-uid", "r-1", "--dry-run"]
    dry = json.loads(cli.ok("withdrawal", "waive", "old", *words))
    waiver = manifest("RecordWithdrawalWaiver", "old", dry["spec"])
    assert waiver["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]
    assert lines(cli, waiver) == [
        f"+ RecordWithdrawalWaiver {namespace}/old",
        *(line for line in lines(cli, waiver) if line.startswith("    ") and "released" not in line),
        f"= Zone {namespace}/zone ({served_zone})",
        f"  = www withdrawn from 192.0.2.7, RecordWithdrawal {namespace}/old",
        f"      released: by RecordWithdrawalWaiver {namespace}/old, though given by RecordSet {namespace}/www",
        "  1 untouched",
        "Plan: 1 to create, 0 to change, 0 to delete, 1 untouched",
    ]
