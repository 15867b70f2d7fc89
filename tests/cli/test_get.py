"""`dns-api get` against a running product."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.cli.command import Cli
from tests.cli.manifest import config_map, record_set, text


@pytest.fixture
def two(cli: Cli, served_zone: str) -> str:
    """The record sets `api` and `www`, Programmed; `www` has the label tier=web."""
    labels = {"tier": "web"}
    cli.ok("apply", "-f", "-", stdin=text(record_set("api"), record_set("www", labels=labels)))
    cli.ok("wait", "rrset")
    return served_zone


def cells(line: str) -> list[str]:
    return line.split()


def test_the_server_prints(cli: Cli, two: str) -> None:
    head, *rows = cli.ok("get", "recordsets").splitlines()
    assert cells(head) == ["NAME", "ZONE", "TYPE", "NAME", "ACCEPTED", "PROGRAMMED", "REASON", "AGE"]
    assert [cells(row)[:6] for row in rows] == [
        ["api", "zone", "A", "api", "True", "True"],
        ["www", "zone", "A", "www", "True", "True"],
    ]
    assert [line.index("zone") for line in rows] == [head.index("ZONE")] * 2


@pytest.mark.parametrize(
    "words",
    [
        ["recordsets"],
        ["recordset"],
        ["RecordSet"],
        ["rrset"],
        ["recordsets.dns.appthrust.io"],
        ["recordset.v1alpha1.dns.appthrust.io"],
        ["rrset", "api", "www"],
        ["rrset/api", "RecordSet/www"],
    ],
)
def test_a_kind_has_many_names(cli: Cli, two: str, words: list[str]) -> None:
    assert [cells(row)[0] for row in cli.ok("get", *words).splitlines()[1:]] == ["api", "www"]


def test_several_kinds_are_told_apart(cli: Cli, two: str) -> None:
    zones, record_sets = cli.ok("get", "zones,rrset").split("\n\n")
    assert cells(zones.splitlines()[1])[0] == "zone.dns.appthrust.io/zone"
    assert cells(record_sets.splitlines()[1])[0] == "recordset.dns.appthrust.io/api"


def test_a_category_is_all_its_kinds(cli: Cli, two: str) -> None:
    found = {line.split("/")[0] for line in cli.ok("get", "dns", "-o", "name").splitlines()}
    assert {"zone.dns.appthrust.io", "recordset.dns.appthrust.io", "zoneunit.dns.appthrust.io"} <= found


def test_all_namespaces_and_wide(everywhere: Cli, namespace: str, two: str) -> None:
    head, *rows = everywhere.ok("get", "zones", "-A", "-o", "wide").splitlines()
    assert cells(head)[:2] == ["NAMESPACE", "NAME"]
    assert "REASON" in cells(head)
    assert [namespace, "zone", two] in [cells(row)[:3] for row in rows]


def test_why_a_claim_is_not_as_it_should_be_is_told(cli: Cli, two: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("mine", owner="www")))
    cli.ok("wait", "rrset/mine", "--for=condition=Accepted=False")
    (_, mine) = cli.ok("get", "rrset", "mine", "-o", "wide").splitlines()
    assert cells(mine)[4:6] == ["False", "RecordSetConflict"]
    assert "owns A at www" in mine
    assert "RecordSetConflict" in cli.ok("get", "rrset", "mine")


def test_labels_select(cli: Cli, two: str) -> None:
    assert cli.ok("get", "rrset", "-l", "tier=web", "-o", "name") == "recordset.dns.appthrust.io/www\n"
    complaint = cli.fails("get", "rrset", "-l", "a=b=c")
    assert complaint.startswith("error: ")
    assert "a=b=c" in complaint


def test_one_object_is_printed_as_it_is(cli: Cli, two: str) -> None:
    one = yaml.safe_load(cli.ok("get", "rrset/www", "-o", "yaml"))
    assert (one["kind"], one["metadata"]["name"], one["spec"]["name"]) == ("RecordSet", "www", "www")
    assert "managedFields" not in one["metadata"]
    assert json.loads(cli.ok("get", "rrset/www", "-o", "json")) == one


@pytest.mark.parametrize("words", [["rrset"], ["rrset", "api", "www"]])
def test_several_objects_are_a_list_that_can_be_applied(cli: Cli, two: str, words: list[str]) -> None:
    printed = cli.ok("get", *words, "-o", "json")
    found = json.loads(printed)
    assert (found["apiVersion"], found["kind"]) == ("v1", "List")
    assert [(each["kind"], each["metadata"]["name"]) for each in found["items"]] == [
        ("RecordSet", "api"),
        ("RecordSet", "www"),
    ]


def test_what_is_absent_keeps_nothing_back(cli: Cli, two: str) -> None:
    result = cli.run("get", "rrset", "api", "nobody", "www")
    assert result.code == 1
    assert [cells(row)[0] for row in result.stdout.splitlines()[1:]] == ["api", "www"]
    assert result.stderr == 'error: recordsets.dns.appthrust.io "nobody" not found\n'


def test_nothing_is_no_fault(cli: Cli, namespace: str) -> None:
    result = cli.run("get", "zones,rrset")
    assert (result.code, result.stdout) == (0, "")
    assert result.stderr == f"no zones, recordsets found in namespace {namespace}\n"


def test_an_unknown_kind_lists_what_there_is(cli: Cli) -> None:
    complaint = cli.fails("get", "recordset,zoens")
    assert complaint.startswith("error: the API has no kind 'zoens'; did you mean zones?\nit has:\n")
    for name in ("  providers\n", "  recordsets (rrset)\n", "  zones\n", "configmaps (cm), "):
        assert name in complaint


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["rrset/www", "api"], "found 'rrset/www' beside a name without a type"),
        (["rrset/"], "found 'rrset/', allowed is TYPE/NAME"),
        (["rrset", "www", "-l", "a=b"], "found the name 'www' and the selector 'a=b'"),
        (["rrset", "www", "api", "-w"], "-w follows one name"),
    ],
)
def test_a_call_that_means_nothing_is_refused(cli: Cli, words: list[str], fault: str) -> None:
    assert fault in cli.fails("get", *words)


def test_a_name_is_looked_up_in_one_namespace(everywhere: Cli) -> None:
    assert "give -n, not -A" in everywhere.fails("get", "rrset", "www", "-A")


def test_changes_are_printed_below_what_there_is(cli: Cli, two: str) -> None:
    with cli.started("get", "rrset", "-w") as process:
        process.stdout.until("www ")
        cli.ok("apply", "-f", "-", stdin=text(record_set("zzz", owner="later")))
        new = process.stdout.until("later")
        programmed = process.stdout.until("True       True")
        head = next(line for line in process.stdout.seen if line.startswith("NAME"))
        assert new.index("later") == programmed.index("later") == head.index("NAME", 1)


def test_changes_of_several_kinds_are_followed_together(cli: Cli) -> None:
    cli.ok("apply", "-f", "-", stdin=text(config_map("first")))
    with cli.started("get", "cm,secrets", "-w") as process:
        process.stdout.until("configmap/first")
        for name in ("a", "b"):
            cli.ok("apply", "-f", "-", stdin=text(config_map(name)))
            process.stdout.until(f"configmap/{name}")
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}}
        cli.ok("apply", "-f", "-", stdin=text(secret))
        process.stdout.until("secret/c")
