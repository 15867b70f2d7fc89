"""`dns-api delete` against a running product."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.api import CONFIG_MAPS, Api
from tests.cli.command import Cli
from tests.cli.manifest import config_map, record_set, text, zone, zone_class


def test_an_object_is_gone_afterwards(cli: Cli, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www")))
    cli.ok("wait", "rrset/www")
    assert cli.ok("delete", "rrset/www") == "recordset.dns.appthrust.io/www deleted\n"
    assert "not found" in cli.fails("get", "rrset/www")
    assert cli.ok("delete", "zone", "zone") == "zone.dns.appthrust.io/zone deleted\n"


def test_a_zone_waits_for_its_record_sets_and_says_so(cli: Cli, namespace: str, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www")))
    cli.ok("wait", "rrset/www")
    with cli.started("delete", "zone/zone") as process:
        told = process.stderr.until(f"{namespace}/www")
        assert "waiting (" in told
        assert "zone.dns.appthrust.io/zone: Programmed is False (ProviderChangePending)" in told
        assert told.endswith(f"{namespace}/www; held by finalizer dns.appthrust.io/core")
        cli.ok("delete", "rrset/www")
        assert process.ended() == 0
        assert process.stdout.rest() == "zone.dns.appthrust.io/zone deleted"


def test_what_is_not_gone_in_time_is_told(cli: Cli, api: Api, namespace: str) -> None:
    api.create(CONFIG_MAPS, config_map("held", namespace=namespace, finalizers=["example.com/hold"]))
    complaint = cli.fails("delete", "cm/held", "--timeout=0.3s")
    assert "configmap/held is not gone yet: held by finalizer example.com/hold" in complaint
    assert "1 not gone after 0.3s" in complaint


def test_who_stops_waiting_is_told_that_the_deletion_goes_on(cli: Cli, api: Api, namespace: str) -> None:
    api.create(CONFIG_MAPS, config_map("held", namespace=namespace, finalizers=["example.com/hold"]))
    with cli.started("delete", "cm/held") as process:
        process.stderr.until("held by finalizer")
        process.send_signal(signal.SIGINT)
        assert process.ended() == 130
        assert "goes all the same" in process.stderr.rest()
    assert cli.object("cm/held")["metadata"]["deletionTimestamp"]


def test_another_object_of_the_same_name_is_not_waited_for(cli: Cli, api: Api, namespace: str) -> None:
    api.create(CONFIG_MAPS, config_map("name", namespace=namespace, finalizers=["example.com/hold"]))
    with cli.started("delete", "cm/name") as process:
        process.stderr.until("held by finalizer")
        api.patch(CONFIG_MAPS, namespace, "name", {"metadata": {"finalizers": []}})
        api.create(CONFIG_MAPS, config_map("name", namespace=namespace))
        assert process.ended() == 0
    assert cli.object("cm/name")["metadata"]["name"] == "name"


def test_one_need_not_wait(cli: Cli, api: Api, namespace: str) -> None:
    api.create(CONFIG_MAPS, config_map("held", namespace=namespace, finalizers=["example.com/hold"]))
    assert cli.ok("delete", "cm/held", "--no-wait") == "configmap/held deleting\n"
    assert cli.object("cm/held")["metadata"]["deletionTimestamp"]


def test_manifests_name_what_goes_and_its_order(cli: Cli, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(text(zone_class(), zone(domain), record_set("a"), record_set("b")), encoding="utf-8")
    cli.ok("apply", "-f", str(path))
    cli.ok("wait", "zone,rrset")
    *record_sets, last_zone, last_class = cli.ok("delete", "-f", str(path)).splitlines()
    assert sorted(record_sets) == ["recordset.dns.appthrust.io/a deleted", "recordset.dns.appthrust.io/b deleted"]
    assert [last_zone, last_class] == ["zone.dns.appthrust.io/zone deleted", "zoneclass.dns.appthrust.io/class deleted"]


def test_a_whole_namespace_goes(everywhere: Cli, cli: Cli, namespace: str, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("a"), record_set("b")))
    assert everywhere.ok("delete", "namespace", namespace) == f"namespace/{namespace} deleted\n"
    assert cli.run("get", "dns").stdout.count(namespace) == 0


def test_what_is_absent_is_told_and_keeps_nothing_back(cli: Cli) -> None:
    cli.ok("apply", "-f", "-", stdin=text(config_map("one"), config_map("two")))
    result = cli.run("delete", "cm", "one", "nobody", "two")
    assert (result.code, sorted(result.stdout.splitlines())) == (1, ["configmap/one deleted", "configmap/two deleted"])
    assert result.stderr == 'error: configmaps "nobody" not found\n'
    assert cli.ok("delete", "cm", "nobody", "--ignore-not-found") == ""


def test_all_and_labels_select(cli: Cli) -> None:
    cli.ok("apply", "-f", "-", stdin=text(config_map("a", labels={"x": "y"}), config_map("b"), config_map("c")))
    assert cli.ok("delete", "cm", "-l", "x=y") == "configmap/a deleted\n"
    assert "give the names" in cli.fails("delete", "cm")
    assert sorted(cli.ok("delete", "cm", "--all").splitlines()) == ["configmap/b deleted", "configmap/c deleted"]


def test_a_refused_deletion_tells_why(everywhere: Cli) -> None:
    complaint = everywhere.fails("delete", "namespace", "default")
    assert "namespace/default is not deleted" in complaint
    assert "this namespace may not be deleted" in complaint


@pytest.mark.parametrize("words", [[], ["cm", "x", "-f", "-"]])
def test_either_names_or_manifests_are_given(cli: Cli, words: list[str]) -> None:
    assert "give either TYPE and names, or -f" in cli.fails("delete", *words, code=2)
