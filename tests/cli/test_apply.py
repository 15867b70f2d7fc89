"""`dns-api apply` against a running product."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.api import CONFIG_MAPS, Api
from tests.cli.command import Cli
from tests.cli.manifest import config_map, record_set, text, zone, zone_class


def test_results_tell_created_configured_and_unchanged(cli: Cli, served_zone: str) -> None:
    name = "recordset.dns.appthrust.io/www"
    assert cli.ok("apply", "-f", "-", stdin=text(record_set("www"))) == f"{name} created\n"
    assert cli.ok("apply", "-f", "-", stdin=text(record_set("www"))) == f"{name} unchanged\n"
    assert cli.ok("apply", "-f", "-", stdin=text(record_set("www", "192.0.2.9"))) == f"{name} configured\n"
    assert cli.object("rrset/www")["spec"]["a"]["addresses"] == ["192.0.2.9"]


def test_what_others_need_is_applied_first(cli: Cli, everywhere: Cli, namespace: str, domain: str) -> None:
    other = f"{namespace}-other"
    manifests = [record_set("www"), zone(domain), zone_class()]
    for each in manifests:
        each["metadata"]["namespace"] = other
    manifests.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}})
    printed = everywhere.ok("apply", "-f", "-", stdin=text(*manifests))
    assert [line.split("/")[0].split(".")[0] for line in printed.splitlines()] == [
        "namespace",
        "zoneclass",
        "zone",
        "recordset",
    ]


def test_a_dry_run_judges_and_stores_nothing(cli: Cli, served_zone: str) -> None:
    created = cli.ok("apply", "--dry-run", "-f", "-", stdin=text(record_set("www")))
    assert created == "recordset.dns.appthrust.io/www created (dry run)\n"
    assert cli.fails("get", "rrset/www") == 'error: recordsets.dns.appthrust.io "www" not found\n'
    cli.ok("apply", "-f", "-", stdin=text(record_set("www")))
    for changed, verb in ((record_set("www"), "unchanged"), (record_set("www", ttl=5), "configured")):
        assert f" {verb} (dry run)" in cli.ok("apply", "--dry-run", "-f", "-", stdin=text(changed))
    assert cli.object("rrset/www")["spec"]["ttl"] == 60
    assert "spec.ttl: found 0" in cli.fails("apply", "--dry-run", "-f", "-", stdin=text(record_set("www", ttl=0)))


def test_a_wrong_manifest_gets_one_refusal_with_every_fault(cli: Cli, served_zone: str, tmp_path: Path) -> None:
    path = tmp_path / "zone.yaml"
    wrong = record_set("bad", "1.2.3", "::1", owner="WWW", ttl=0)
    path.write_text(text(record_set("good"), wrong, record_set("fine")), encoding="utf-8")
    result = cli.run("apply", "-f", str(path))
    assert result.code == 1
    assert result.stdout == "recordset.dns.appthrust.io/good created\nrecordset.dns.appthrust.io/fine created\n"
    head, *faults, end = result.stderr.splitlines()
    assert head == f"refused: {path} (document 2), recordset.dns.appthrust.io/bad"
    fields = [fault.split(":")[0].strip() for fault in faults]
    assert fields == ["spec.name", "spec.ttl", "spec.a.addresses[0]", "spec.a.addresses[1]"]
    assert end == "1 of 3 manifests refused"


def test_fields_that_do_not_exist_hide_no_other_fault(cli: Cli, served_zone: str) -> None:
    wrong = record_set("bad", ttl=0)
    wrong["spec"] |= {"tll": 5, "nmae": "x"}
    complaint = cli.fails("apply", "-f", "-", stdin=text(wrong))
    for field in ("spec.tll: ", "spec.nmae: ", "spec.ttl: found 0"):
        assert complaint.count(field) == 1
    assert complaint.count("refused: ") == 1


def test_a_duplicate_record_is_taken_and_told_by_its_condition(cli: Cli, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("first", owner="www")))
    cli.ok("wait", "rrset/first")
    cli.ok("apply", "-f", "-", stdin=text(record_set("second", owner="www")))
    complaint = cli.fails("wait", "rrset/second", "--timeout", "1s")
    assert "RecordSetConflict" in cli.ok("describe", "rrset/second")
    assert "error: recordset.dns.appthrust.io/second is not Programmed" in complaint


def test_broken_documents_keep_no_other_one_back(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    documents = [
        "a: b: c\n",
        text(config_map("one")),
        "- 1\n",
        "kind: ConfigMap\n",
        "a: 1\na: 2\n",
        text(config_map("two")),
    ]
    path.write_text("---\n".join(["# only a comment\n", *documents]), encoding="utf-8")
    result = cli.run("apply", "-f", str(path), "-f", str(tmp_path / "absent.yaml"))
    assert result.code == 1
    assert result.stdout == "configmap/one created\nconfigmap/two created\n"
    for number, fault in (
        (1, "is not YAML: line 3, column 5"),
        (3, "found a list, a manifest is a mapping"),
        (4, "apiVersion: found None, allowed are VERSION and GROUP/VERSION\n  metadata: found None"),
        (5, "line 16, column 1: found the key 'a' twice"),
    ):
        assert f"{path} (document {number})\n  {fault}" in result.stderr
    assert "absent.yaml\n  cannot be read: No such file or directory" in result.stderr
    assert "5 of 7 manifests refused" in result.stderr


def test_a_folder_and_json_and_lists_are_read(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(text(config_map("b")), encoding="utf-8")
    items = {"apiVersion": "v1", "kind": "List", "items": [config_map("a1"), config_map("a2")]}
    (tmp_path / "a.json").write_text(json.dumps(items), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no manifest", encoding="utf-8")
    printed = cli.ok("apply", "-f", str(tmp_path))
    assert printed == "configmap/a1 created\nconfigmap/a2 created\nconfigmap/b created\n"


def test_fields_of_another_manager_are_kept_unless_forced(cli: Cli, api: Api, namespace: str) -> None:
    api.apply(CONFIG_MAPS, config_map("shared", {"key": "theirs"}, namespace=namespace), manager="gitops")
    mine = text(config_map("shared", {"key": "mine"}))
    complaint = cli.fails("apply", "-f", "-", stdin=mine)
    assert complaint.startswith("refused: standard input (document 1), configmap/shared\n  data.key: ")
    assert "gitops" in complaint
    assert "--force" in complaint
    assert cli.object("cm/shared")["data"] == {"key": "theirs"}
    assert cli.ok("apply", "--force", "-f", "-", stdin=mine) == "configmap/shared configured\n"
    assert cli.object("cm/shared")["data"] == {"key": "mine"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "Unheard"}, "the server does not serve kind 'Unheard' in 'v1'"),
        ({"metadata": {"name": "x", "namespace": "elsewhere"}}, "metadata.namespace: found 'elsewhere'"),
        ({"metadata": {"name": "Not_A_Name"}}, "metadata.name: "),
        ({"metadata": {"name": "a/b?c"}}, "metadata.name: "),
    ],
)
def test_what_the_api_cannot_take_is_refused(cli: Cli, change: dict[str, object], fault: str) -> None:
    complaint = cli.fails("apply", "-f", "-", stdin=text({**config_map("x"), **change}))
    assert complaint.startswith("refused: standard input (document 1)")
    assert fault in complaint


def test_two_manifests_of_one_object_are_a_fault(cli: Cli) -> None:
    result = cli.run("apply", "-f", "-", stdin=text(config_map("x", {"a": "1"}), config_map("x", {"a": "2"})))
    assert (result.code, result.stdout) == (1, "configmap/x created\n")
    assert "describes the same object as standard input (document 1)" in result.stderr


def test_a_missing_namespace_is_told_and_how_to_make_it(everywhere: Cli) -> None:
    complaint = everywhere.within("nowhere").fails("apply", "-f", "-", stdin=text(config_map("x")))
    assert 'namespaces "nowhere" not found' in complaint
    assert "kubectl create namespace nowhere" in complaint


def test_what_get_prints_can_be_applied_again_after_a_loss(cli: Cli, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www")))
    cli.ok("wait", "rrset/www")
    saved = cli.ok("get", "rrset", "-o", "yaml")
    assert "resourceVersion" in saved
    cli.ok("delete", "rrset/www")
    assert cli.ok("apply", "-f", "-", stdin=saved) == "recordset.dns.appthrust.io/www created\n"
    cli.ok("wait", "rrset/www")
    assert cli.ok("apply", "-f", "-", stdin=saved) == "recordset.dns.appthrust.io/www unchanged\n"


def test_a_kind_can_be_used_right_after_its_definition(cli: Cli, everywhere: Cli, namespace: str) -> None:
    group = f"{namespace}.example.com"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gadgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [version],
        },
    }
    gadget = {"apiVersion": f"{group}/v1", "kind": "Gadget", "metadata": {"name": "one"}}
    printed = cli.ok("apply", "-f", "-", stdin=text(gadget, definition))
    assert printed.splitlines()[1] == f"gadget.{group}/one created"
    everywhere.ok("delete", f"crd/gadgets.{group}")


def test_nothing_to_apply_is_a_wrong_call(cli: Cli) -> None:
    assert "--filename" in cli.fails("apply", code=2)
    assert "holds no manifests" in cli.fails("apply", "-f", "-", stdin="# nothing\n")
