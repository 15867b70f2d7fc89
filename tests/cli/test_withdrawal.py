"""`dns-api withdrawal`, and withdrawals from a zone that our own name server answers."""

from __future__ import annotations

import json

import pytest

from controllers.api.record_withdrawal import address_label
from tests.cli.command import Cli
from tests.cli.manifest import PROVIDER, manifest, record_set, text

WAIVE = (
    "--reason",
    "Nobody asks any more.",
    "--reservation",
    "ipam.example/Hold/team/edge",
    "--reservation-uid",
    "r-1",
)


def withdrawal(name: str, owner: str, address: str) -> str:
    spec = {"zoneRef": {"name": "zone"}, "provider": PROVIDER, "name": owner, "address": address}
    return text(manifest("RecordWithdrawal", name, spec, labels={"dns.appthrust.io/address": address_label(address)}))


def wait(cli: Cli, name: str, goal: str) -> None:
    cli.ok("wait", f"recordwithdrawal/{name}", "--for", f"condition={goal}", "--timeout", "25s")


def row(cli: Cli) -> list[str]:
    return cli.run("withdrawal", "list").stdout.splitlines()[1].split()


def test_an_address_is_held_until_its_record_is_gone_or_an_operator_waives(cli: Cli, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www", "192.0.2.7")))
    cli.ok("wait", "rrset/www")
    cli.ok("apply", "-f", "-", stdin=withdrawal("old", "www", "192.0.2.7"))
    wait(cli, "old", "Withdrawn=False")
    result = cli.run("withdrawal", "list")
    assert result.code == 1
    header, line = result.stdout.splitlines()
    assert header.split() == ["NAME", "ZONE", "OWNER", "ADDRESS", "ACCEPTED", "WITHDRAWN", "READY", "REASON"]
    zone = f"{cli.namespace}/zone"
    assert line.split() == ["old", zone, "www", "192.0.2.7", "True", "False", "False", "NotWithdrawn"]

    dry = json.loads(cli.ok("withdrawal", "waive", "old", *WAIVE, "--dry-run"))
    assert dry["spec"]["reservationRef"]["namespace"] == "team"
    assert row(cli)[6] == "False"
    assert "created for 192.0.2.7 at www; the address is not free before" in cli.ok(
        "withdrawal", "waive", "old", *WAIVE
    )
    wait(cli, "old", "Ready")
    assert row(cli)[4:] == ["True", "False", "True", "OperatorAuthorizedRelease"]
    assert cli.run("withdrawal", "list").code == 0
    cli.ok("delete", "recordwithdrawalwaiver/old")
    wait(cli, "old", "Ready=False")

    cli.ok("delete", "rrset/www")
    wait(cli, "old", "Withdrawn=Unknown")
    found = cli.object("recordwithdrawal/old")
    assert found["status"]["provider"]["data"]["servers"]


def test_a_waiver_says_exactly_what_it_releases(cli: Cli, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=withdrawal("old", "www", "192.0.2.7"))
    assert "does not exist" in cli.fails("withdrawal", "waive", "nothing", *WAIVE)
    assert "allowed: GROUP/KIND/NAME" in cli.fails(
        "withdrawal", "waive", "old", "--reason", "x", "--reservation", "edge", "--reservation-uid", "r", code=2
    )
    cli.ok("withdrawal", "waive", "old", *WAIVE, "--waiver", "release")
    waiver = cli.object("recordwithdrawalwaiver/release")
    claim = cli.object("recordwithdrawal/old")
    assert waiver["spec"]["claimRef"] == {"name": "old", "uid": claim["metadata"]["uid"]}
    cli.ok("wait", "recordwithdrawalwaiver/release", "--for", "Accepted")


def test_a_claim_that_is_not_accepted_is_not_waived(cli: Cli, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=withdrawal("star", "*", "192.0.2.7"))
    wait(cli, "star", "Accepted=False")
    told = cli.fails("withdrawal", "waive", "star", *WAIVE)
    assert f"RecordWithdrawal {cli.namespace}/star is not accepted (NotAllowed: " in told
    assert "so a waiver would release nothing" in told
    assert "not found" in cli.fails("get", "recordwithdrawalwaiver/star")
    assert "is not accepted" in cli.fails("withdrawal", "waive", "star", *WAIVE, "--dry-run")


def test_without_withdrawals_there_is_nothing_to_list(cli: Cli) -> None:
    assert cli.ok("withdrawal", "list") == ""


@pytest.mark.slow
def test_an_address_is_proven_to_be_free(cli: Cli, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=withdrawal("old", "www", "192.0.2.7"))
    # A proof takes a minute, and a look more when a busy machine lets a question of the second go unanswered.
    cli.ok("wait", "recordwithdrawal/old", "--for", "condition=Withdrawn", "--timeout", "600s")
    assert row(cli)[4:] == ["True", "True", "True", "Withdrawn"]
