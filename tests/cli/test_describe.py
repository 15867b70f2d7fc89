"""`dns-api describe` and `dns-api events` against a running product."""

from __future__ import annotations

import re

import pytest

from tests.cli.api import EVENTS, Api
from tests.cli.command import Cli
from tests.cli.manifest import config_map, record_set, text, zone


def section(description: str, title: str) -> list[str]:
    """The lines below a title, without their indentation."""
    below = description.split(f"\n{title}\n", 1)[1]
    return [line.strip() for line in below.split("\n\n", 1)[0].splitlines()]


def test_a_zone_is_described(cli: Cli, namespace: str, served_zone: str) -> None:
    with cli.started("events", "-w", "--for", "zone/zone") as process:
        process.stdout.until("Programmed")
    described = cli.ok("describe", "zone", "zone")
    assert described.startswith("zone.dns.appthrust.io/zone\n")
    identity = described.split("\n\n", 1)[0]
    assert re.search(rf"Namespace +{namespace}\n", identity)
    assert re.search(r"Created +\d{4}-\d\d-\d\dT\S+ \(\d+s ago\)", identity)
    assert re.search(r"Finalizers +dns.appthrust.io/core", identity)
    assert re.search(rf"domainName +{served_zone}\n", described)
    head, accepted, programmed = section(described, "Conditions")
    assert head.split() == ["TYPE", "STATUS", "REASON", "SINCE", "GENERATION", "MESSAGE"]
    assert accepted.split()[:3] == ["Accepted", "True", "Accepted"]
    assert programmed.split()[:3] == ["Programmed", "True", "Programmed"]
    assert section(described, "Name servers") == ["ns1.example.net"]
    assert section(described, "Waits for") == ["nothing: all is as declared"]
    assert "Programmed" in {line.split()[2] for line in section(described, "Events")[1:]}


def test_a_zone_tells_which_of_its_record_sets_are_not_as_declared(cli: Cli, namespace: str, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www")))
    cli.ok("wait", "rrset/www")
    cli.ok("apply", "-f", "-", stdin=text(record_set("mine", owner="www")))
    cli.ok("wait", "rrset/mine", "--for=condition=Accepted=False")
    count, mine = section(cli.ok("describe", "zone", "zone"), "Record sets")
    assert count == "2 record sets: 1 as declared, 1 not"
    assert mine.startswith(f"{namespace}/mine: Accepted is False (RecordSetConflict): ")


def test_the_copy_that_kubectl_keeps_is_no_annotation_to_read(cli: Cli) -> None:
    kept = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "a"}
    cli.ok("apply", "-f", "-", stdin=text(config_map("x", annotations=kept)))
    assert re.search(r"Annotations +team=a\n", cli.ok("describe", "cm/x"))


def test_what_an_object_waits_for_is_told(cli: Cli, domain: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(zone(domain, zone_class="absent")))
    cli.ok("wait", "zone/zone", "--for=condition=Accepted=Unknown")
    (waits,) = section(cli.ok("describe", "zone/zone"), "Waits for")
    assert waits.startswith("Accepted is Unknown (ZoneClassNotResolved): ")


def test_what_holds_a_deleted_object_is_told(cli: Cli, namespace: str, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www")))
    cli.ok("wait", "rrset/www")
    cli.fails("delete", "zone/zone", "--timeout=1s")
    described = cli.ok("describe", "zone/zone")
    assert re.search(r"Deleted +\d{4}-.*ago\), see what it waits for", described)
    (waits,) = section(described, "Waits for")
    assert f"{namespace}/www" in waits
    assert "held by finalizer dns.appthrust.io/core" in waits


def test_several_objects_and_absent_ones(cli: Cli, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("a"), record_set("b")))
    result = cli.run("describe", "rrset", "a", "nobody", "b")
    assert (result.code, result.stderr) == (1, 'error: recordsets.dns.appthrust.io "nobody" not found\n')
    assert re.findall(r"^recordset\S+$", result.stdout, re.MULTILINE) == [
        "recordset.dns.appthrust.io/a",
        "recordset.dns.appthrust.io/b",
    ]
    assert cli.run("describe", "zoneclass", "-l", "x=y").stderr.startswith("no zoneclasses found")


def test_a_secret_stays_one(cli: Cli) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "login"},
        "stringData": {"password": "hunter2"},
    }
    cli.ok("apply", "-f", "-", stdin=text(secret))
    described = cli.ok("describe", "secret", "login")
    assert section(described, "Spec") == ["data.password   hidden"]
    assert "aHVudGVyMg" not in described
    assert "hunter2" not in described


def test_events_are_listed_the_latest_last(cli: Cli, api: Api, namespace: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(config_map("one"), config_map("two")))
    for name, about, last in (("b", "two", "02"), ("a", "one", "03"), ("c", "one", "01")):
        api.create(EVENTS, event(namespace, name, about, f"2026-01-01T00:00:{last}Z"))
    head, *rows = cli.ok("events").splitlines()
    assert head.split("   ")[0] == "LAST SEEN"
    assert [row.split("   ")[-1].strip() for row in rows] == ["message c", "message b", "message a"]
    assert "Warning" in rows[0]
    assert "configmap/one" in rows[0]
    assert "(x3 over " in rows[0]
    about_one = cli.ok("events", "--for", "cm/one").splitlines()[1:]
    assert [row.split()[-1] for row in about_one] == ["c", "a"]


def test_events_of_all_namespaces_tell_theirs(everywhere: Cli, api: Api, namespace: str) -> None:
    api.create(EVENTS, event(namespace, "a", "one", "2026-01-01T00:00:00Z"))
    head, *rows = everywhere.ok("events", "-A").splitlines()
    assert head.startswith("NAMESPACE ")
    assert any(row.startswith(f"{namespace} ") for row in rows)


def test_new_events_are_followed(cli: Cli, served_zone: str) -> None:
    with cli.started("events", "-w") as process:
        process.stdout.until("zone/zone")
        cli.ok("apply", "-f", "-", stdin=text(record_set("www")))
        assert "Normal" in process.stdout.until("recordset/www")


@pytest.mark.parametrize(
    ("words", "said"),
    [([], "no events found in namespace "), (["--for", "cm/one"], "no events found about cm/one in namespace ")],
)
def test_no_events_are_no_fault(cli: Cli, words: list[str], said: str) -> None:
    result = cli.run("events", *words)
    assert (result.code, result.stdout) == (0, "")
    assert result.stderr.startswith(said)


def test_events_are_of_one_object_or_of_all(cli: Cli) -> None:
    assert "--for: found 'zones', allowed is TYPE/NAME" in cli.fails("events", "--for", "zones")


def event(namespace: str, name: str, about: str, last: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "type": "Warning",
        "reason": "Told",
        "message": f"message {name}",
        "count": 3,
        "firstTimestamp": "2025-12-31T00:00:00Z",
        "lastTimestamp": last,
        "source": {"component": "test"},
        "involvedObject": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": namespace, "name": about},
    }
