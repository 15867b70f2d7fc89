"""`dns-api wait` against a running product."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import dns.asyncquery
import dns.message
import pytest

from kube.resource import ResourceRef
from tests.cli.api import CONFIG_MAPS, Api
from tests.cli.command import Cli
from tests.cli.conftest import Up
from tests.cli.manifest import config_map, record_set, text, zone, zone_class

THINGS = ResourceRef("dns.appthrust.io", "v1alpha1", "recordsets", "RecordSet")


def addresses(up: Up, name: str) -> list[str]:
    """What the name server answers to a query for A records."""
    host, port = up.dns
    query = dns.message.make_query(name, "A")
    answer = asyncio.run(dns.asyncquery.udp(query, host, port=port, timeout=30))
    return sorted(item.to_text() for rrset in answer.answer for item in rrset)


def test_what_is_programmed_is_served(cli: Cli, up: Up, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www", "192.0.2.7", "192.0.2.8")))
    assert cli.ok("wait", "rrset/www") == "recordset.dns.appthrust.io/www Programmed\n"
    assert addresses(up, f"www.{served_zone}") == ["192.0.2.7", "192.0.2.8"]
    for last in range(20, 30):
        cli.ok("apply", "-f", "-", stdin=text(record_set("www", f"192.0.2.{last}")))
        cli.ok("wait", "rrset/www", "--for", "Programmed", "--timeout", "20s")
        assert addresses(up, f"www.{served_zone}") == [f"192.0.2.{last}"]


def test_it_waits_for_what_comes_later(cli: Cli, domain: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(zone(domain), record_set("www")))
    with cli.started("wait", "zone,rrset") as process:
        process.stderr.until("zone.dns.appthrust.io/zone: it has no condition Programmed yet; Accepted is Unknown")
        assert process.running
        cli.ok("apply", "-f", "-", stdin=text(zone_class()))
        assert process.ended() == 0
        assert sorted(process.stdout.rest().splitlines()) == [
            "recordset.dns.appthrust.io/www Programmed",
            "zone.dns.appthrust.io/zone Programmed",
        ]


def test_what_is_missing_is_told_when_the_time_is_up(cli: Cli, domain: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(zone(domain)))
    cli.ok("wait", "zone/zone", "--for=condition=Accepted=Unknown")
    complaint = cli.fails("wait", "zone/zone", "--for=Accepted", "--timeout=0.2s")
    assert "error: zone.dns.appthrust.io/zone is not Accepted" in complaint
    assert "(ZoneClassNotResolved)" in complaint
    assert complaint.endswith("1 of 1 not Accepted\n")


def test_an_absent_object_never_gets_there(cli: Cli) -> None:
    complaint = cli.fails("wait", "zone/nobody")
    assert complaint.startswith("error: zone.dns.appthrust.io/nobody is not Programmed: it does not exist\n")
    assert "found nothing to wait for" in cli.fails("wait", "zones")


def test_an_absent_object_is_deleted(cli: Cli) -> None:
    assert cli.ok("wait", "zone/nobody", "--for=delete") == "zone.dns.appthrust.io/nobody deleted\n"


def test_the_end_of_an_object_is_waited_for(cli: Cli, api: Api, namespace: str) -> None:
    api.create(CONFIG_MAPS, config_map("held", namespace=namespace, finalizers=["example.com/hold"]))
    with cli.started("wait", "cm/held", "--for=delete") as process:
        process.stderr.until("configmap/held: nobody has deleted it yet")
        api.delete(CONFIG_MAPS, namespace, "held")
        process.stderr.until("configmap/held: held by finalizer example.com/hold")
        api.patch(CONFIG_MAPS, namespace, "held", {"metadata": {"finalizers": []}})
        assert process.ended() == 0
        assert process.stdout.rest() == "configmap/held deleted"


@pytest.mark.parametrize(
    ("goal", "printed"),
    [
        ("Accepted", "Accepted"),
        ("accepted", "accepted"),
        ("condition=Programmed", "Programmed"),
        ("condition=Programmed=True", "Programmed"),
    ],
)
def test_goals(cli: Cli, served_zone: str, goal: str, printed: str) -> None:
    assert cli.ok("wait", "zone/zone", f"--for={goal}") == f"zone.dns.appthrust.io/zone {printed}\n"


def test_a_goal_of_another_status(cli: Cli, served_zone: str) -> None:
    complaint = cli.fails("wait", "zone/zone", "--for=condition=Programmed=False", "--timeout=0.5")
    assert "zone.dns.appthrust.io/zone is not Programmed=False: Programmed is True (Programmed)" in complaint


@pytest.mark.parametrize(
    "words", [["--for=condition=A=B"], ["--for=x=y"], ["--for="], ["--timeout=soon"], ["--timeout="]]
)
def test_a_goal_or_time_that_is_none_is_a_wrong_call(cli: Cli, words: list[str]) -> None:
    assert "allowed" in cli.fails("wait", "zone/zone", *words, code=2)


def test_many_objects_are_waited_for_together(cli: Cli, served_zone: str) -> None:
    manifests: list[dict[str, Any]] = [record_set(f"w{number}") for number in range(60)]
    cli.ok("apply", "-f", "-", stdin=text(*manifests))
    assert len(cli.ok("wait", "rrset", "--timeout=30s").splitlines()) == 60


def test_of_many_that_do_not_get_there_some_are_told(cli: Cli, domain: str) -> None:
    manifests: list[dict[str, Any]] = [record_set(f"w{number}") for number in range(30)]
    cli.ok("apply", "-f", "-", stdin=text(zone(domain), *manifests))
    complaint = cli.fails("wait", "rrset", "--timeout=0.1s")
    assert complaint.count("is not Programmed: ") == 20
    assert complaint.endswith("error: and 10 more\n30 of 30 not Programmed\n")


def test_an_interrupt_ends_it_without_a_trace(cli: Cli, domain: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(zone(domain)))
    with cli.started("wait", "zone/zone") as process:
        process.stderr.until("waiting (")
        process.send_signal(signal.SIGINT)
        assert process.ended() != 0
        assert "Traceback" not in process.stderr.rest()
