"""`dns-api plan` against a running product: what it tells is what `dns-api apply` then does, and it writes nothing."""

from __future__ import annotations

import asyncio
import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from cli.objects.submission import FIELD_MANAGER
from controllers.api.group import API_VERSION, RECORD_SETS, ZONE_CLASSES, ZONES
from kube.access import Access
from kube.client import Client
from standalone.apiserver.server import ApiServer
from standalone.up.install import install
from standalone.up.kubeconfig import write_kubeconfig
from tests.cli.api import Api
from tests.cli.command import Cli, finished
from tests.cli.manifest import config_map, record_set, text, zone, zone_class

NO_CHANGE, REFUSED, CHANGED = 0, 1, 2


def plan(cli: Cli, *manifests: dict[str, Any], code: int = CHANGED, words: tuple[str, ...] = ()) -> str:
    result = cli.run("plan", "-f", "-", *words, stdin=text(*manifests))
    assert (result.code, result.stderr) == (code, ""), result
    return result.stdout


def planned(cli: Cli, *manifests: dict[str, Any], code: int = CHANGED) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(plan(cli, *manifests, code=code, words=("-o", "json")))
    return document


def apply(cli: Cli, *manifests: dict[str, Any]) -> None:
    """Apply manifests and wait until the records are in the ledger."""
    cli.ok("apply", "-f", "-", stdin=text(*manifests))
    for each in manifests:
        if each["kind"] == "RecordSet":
            cli.ok("wait", f"rrset/{each['metadata']['name']}")


def test_what_is_new_is_told_and_then_it_is_there(cli: Cli, namespace: str, domain: str) -> None:
    manifests = [zone_class(), zone(domain), record_set("www"), record_set("api", "192.0.2.7", "192.0.2.8")]

    told = plan(cli, *manifests)

    assert told.splitlines() == [
        f"+ ZoneClass {namespace}/class",
        "    spec.provider.name: hosted.dns.appthrust.io",
        "    spec.provider.version: v1alpha1",
        "    spec.controllerName: hosted.dns.appthrust.io/controller",
        '    spec.parameters.nameServers: {"name": "ns1.example.net", "addresses": ["192.0.2.53"]}',
        f"+ Zone {namespace}/zone ({domain})",
        f"    domainName: {domain}",
        "    zoneClassRef.name: class",
        "    provider.name: hosted.dns.appthrust.io",
        "    provider.version: v1alpha1",
        "    allowedRecordSets: []",
        f"  + api A, RecordSet {namespace}/api",
        "      a.addresses: 192.0.2.7, 192.0.2.8",
        "      ttl: 60",
        f"  + www A, RecordSet {namespace}/www",
        "      a.addresses: 192.0.2.1",
        "      ttl: 60",
        f"assumed: ZoneClass {namespace}/class is accepted by its controller",
        "Plan: 4 to create, 0 to change, 0 to delete",
    ]
    apply(cli, *manifests)
    assert plan(cli, *manifests, code=NO_CHANGE).splitlines() == [
        f"= ZoneClass {namespace}/class",
        f"= Zone {namespace}/zone ({domain})",
        "  2 untouched",
        "Plan: 0 to create, 0 to change, 0 to delete, 3 untouched",
    ]


def test_changes_are_told_field_by_field(cli: Cli, namespace: str, served_zone: str) -> None:
    apply(cli, record_set("www", "192.0.2.1", "192.0.2.2"), record_set("api"))

    told = plan(cli, record_set("www", "192.0.2.2", "192.0.2.3", ttl=300), record_set("api"))

    assert told.splitlines() == [
        f"= Zone {namespace}/zone ({served_zone})",
        f"  ~ www A, RecordSet {namespace}/www",
        "      a.addresses: -192.0.2.1 +192.0.2.3",
        "      ttl: 60 -> 300",
        "  1 untouched",
        "Plan: 0 to create, 1 to change, 0 to delete, 1 untouched",
    ]


def test_every_fault_of_a_refused_manifest_is_told_in_its_zone(cli: Cli, namespace: str, served_zone: str) -> None:
    wrong = record_set("bad", "x", owner="WWW", ttl=0)
    wrong["spec"]["tll"] = 1

    told = plan(cli, wrong, record_set("good"), code=REFUSED)

    assert (
        told.splitlines()
        == [
            f"= Zone {namespace}/zone ({served_zone})",
            f"  + good A, RecordSet {namespace}/good",
            "      a.addresses: 192.0.2.1",
            "      ttl: 60",
            "  ! standard input (document 1), recordset.dns.appthrust.io/bad",
            "      refused: spec.tll: field not declared in schema",
            '      refused: spec.name: found "WWW", allowed: @, *, *.name or name: lowercase letters, digits and -',
            "      refused: spec.ttl: found 0, allowed: an integer from 1 to 2147483647",
            '      refused: spec.a.addresses[0]: found "x", allowed: an IPv4 address such as 192.0.2.1',
            "Plan: 1 to create, 0 to change, 0 to delete, 1 refused",
        ]
        or told
    )


def test_what_composition_will_refuse_is_told_with_its_reason(cli: Cli, namespace: str, served_zone: str) -> None:
    apply(cli, record_set("first", owner="www"))

    told = plan(cli, record_set("second", owner="www"), code=REFUSED)

    assert (
        f"  ! www A, RecordSet {namespace}/second\n      refused: RecordSetConflict: RecordSet {namespace}/first owns"
        in told
    )


def test_what_cannot_be_changed_is_refused(cli: Cli, served_zone: str) -> None:
    apply(cli, record_set("www"))

    told = plan(cli, record_set("www", owner="other"), code=REFUSED)

    assert "spec.name: " in told
    assert "immutable" in told


def test_a_zone_takes_its_refusals_with_it(cli: Cli, namespace: str, domain: str) -> None:
    """Many record sets that share one fate are told in one line."""
    wrong = zone(domain, zone_class="none")
    manifests = [wrong, *(record_set(f"r{number}") for number in range(9))]

    told = plan(cli, *manifests)

    assert f"? Zone {namespace}/zone ({domain})\n    waiting: ZoneClassNotResolved: ZoneClass {namespace}/none" in told
    assert f"  ? 9 record sets, {namespace}/r0 and others\n      waiting: ZoneClassNotResolved" in told
    assert len(planned(cli, *manifests)["zones"][0]["recordSets"]) == 9


def test_a_record_set_without_a_zone_waits(cli: Cli, namespace: str) -> None:
    told = plan(cli, record_set("www"))

    assert told.splitlines() == [
        f"= Zone {namespace}/zone (which does not exist)",
        f"  ? www A, RecordSet {namespace}/www",
        f"      waiting: ZoneNotResolved: Zone {namespace}/zone does not exist yet.",
        "Plan: 0 to create, 0 to change, 0 to delete, 1 waiting",
    ]


def test_namespaces_come_first_and_have_to_be_there(everywhere: Cli, namespace: str, domain: str) -> None:
    new = f"{namespace}-new"
    manifests = [zone_class(), zone(domain), record_set("www")]
    for each in manifests:
        each["metadata"]["namespace"] = new

    refused = plan(everywhere, *manifests, code=REFUSED)
    granted = plan(everywhere, *manifests, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}})

    assert refused.count(f"refused: metadata.namespace: found '{new}', which does not exist") == 3
    assert granted.startswith(f"+ Namespace {new}\n+ ZoneClass {new}/class\n")


def test_one_namespace_allows_no_other(cli: Cli, namespace: str) -> None:
    told = plan(cli, record_set("www", namespace="default"), code=REFUSED)

    assert f"metadata.namespace: found 'default', --namespace allows '{namespace}' only" in told


def test_grants_are_judged_by_the_labels_of_namespaces(
    everywhere: Cli, cli: Cli, namespace: str, served_zone: str
) -> None:
    guest = f"{namespace}-guest"
    grant = {
        "namespaces": {"selector": {"matchLabels": {"secret-label": "secret-value"}}},
        "records": [{"name": {"pattern": "secret-[a-z]+|www"}, "types": ["A"]}],
    }
    granting = zone(served_zone, namespace=namespace)
    granting["spec"]["allowedRecordSets"] = [grant]
    apply(cli, granting)
    claim = record_set("www", namespace=guest)
    claim["spec"]["zoneRef"]["namespace"] = namespace
    here: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": guest}}

    denied = plan(everywhere, here, claim, code=REFUSED)
    here["metadata"]["labels"] = {"secret-label": "secret-value"}
    let_in = plan(everywhere, here, claim)

    assert "refused: NotAllowedByZone: RecordSet namespace is not allowed by the referenced Zone.\n" in denied
    assert "secret" not in denied
    assert f"  + www A, RecordSet {guest}/www\n" in let_in


def test_the_document_for_programs_has_everything(cli: Cli, namespace: str, served_zone: str) -> None:
    apply(cli, record_set("www"))
    manifests = [
        record_set("www", ttl=300),
        record_set("bad", ttl=0),
        record_set("other", owner="www"),
        config_map("c"),
    ]

    document = planned(cli, *manifests, code=REFUSED)

    (found,) = document["zones"]
    assert document["leftOut"] == ["standard input (document 4)"]
    assert document["refused"] == []
    assert document["summary"] == {"create": 0, "change": 1, "delete": 0, "refused": 2, "waiting": 0, "untouched": 0}
    assert (found["namespace"], found["name"], found["domainName"]) == (namespace, "zone", served_zone)
    assert (found["effect"], found["untouched"]) == ("none", 0)
    other, www = found["recordSets"]
    assert (other["name"], other["effect"], other["accepted"]["reason"]) == ("other", "none", "RecordSetConflict")
    assert (www["name"], www["type"], www["recordName"], www["effect"]) == ("www", "A", "www", "change")
    assert www["changes"] == [{"field": "ttl", "before": 60, "after": 300}]
    (refused,) = found["refused"]
    assert refused == {
        "place": "standard input (document 2)",
        "object": "recordset.dns.appthrust.io/bad",
        "faults": ["spec.ttl: found 0, allowed: an integer from 1 to 2147483647"],
    }


def test_what_apply_refuses_as_nobody_serves_it_is_refused(cli: Cli, namespace: str, served_zone: str) -> None:
    sets = {"apiVersion": "apps/v9", "kind": "ReplicaSet", "metadata": {"name": "web"}}
    manifests = [{**record_set("www"), "apiVersion": "dns.appthrust.io/v1"}, sets, config_map("c")]

    told = plan(cli, *manifests, code=REFUSED)
    complaint = cli.fails("apply", "-f", "-", stdin=text(*manifests))

    unserved = "the server does not serve kind 'RecordSet' in 'dns.appthrust.io/v1'; it serves it in 'dns.appthrust.io/v1alpha1'"
    assert f"standard input (document 1), RecordSet www\n    refused: {unserved}\n" in told
    assert (
        "standard input (document 2), ReplicaSet web\n    refused: the server does not serve kind 'ReplicaSet'" in told
    )
    assert "left out: standard input (document 3), ConfigMap" in told
    assert unserved in complaint
    definition: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "replicasets.apps"},
        "spec": {"group": "apps", "names": {"kind": "ReplicaSet"}, "versions": [{"name": "v9"}]},
    }
    assert "refused" not in plan(cli, definition, sets, code=NO_CHANGE)


def test_fields_of_another_manager_are_refused_unless_forced(
    cli: Cli, api: Api, namespace: str, served_zone: str
) -> None:
    api.apply(RECORD_SETS, record_set("www", namespace=namespace), manager="gitops")
    cli.ok("wait", "rrset/www")

    refused = plan(cli, record_set("www", ttl=300), code=REFUSED)
    forced = plan(cli, record_set("www", ttl=300), words=("--force",))

    assert 'spec.ttl: conflict with "gitops"' in refused
    assert "ttl: 60 -> 300" in forced


def test_fields_that_another_manager_added_stay(cli: Cli, api: Api, namespace: str, served_zone: str) -> None:
    manifest = record_set("www")
    apply(cli, manifest)
    metadata = {"name": "www", "namespace": namespace, "labels": {"a": "b"}}
    api.apply(RECORD_SETS, {"apiVersion": API_VERSION, "kind": "RecordSet", "metadata": metadata}, manager="gitops")
    del manifest["spec"]["ttl"]

    told = plan(cli, record_set("www"), code=NO_CHANGE)
    without = plan(cli, manifest, code=REFUSED)

    assert "1 untouched" in told
    assert "spec.ttl: found nothing" in without


def test_documents_that_cannot_be_read_are_refused_and_keep_nothing_back(
    cli: Cli, tmp_path: Path, served_zone: str
) -> None:
    path = tmp_path / "many.yaml"
    path.write_text(f"a: b: c\n---\n{text(record_set('www'))}---\n{text(record_set('www'))}", encoding="utf-8")

    result = cli.run("plan", "-f", str(path), "-f", str(tmp_path / "absent"))

    assert result.code == REFUSED
    assert "  + www A" in result.stdout
    assert f"! {path} (document 1)\n    refused: is not YAML" in result.stdout
    assert f"describes the same object as {path} (document 2)" in result.stdout
    assert "absent\n    refused: cannot be read: No such file or directory" in result.stdout
    assert "3 refused" in result.stdout


def test_texts_cannot_play_tricks_on_a_terminal(cli: Cli, served_zone: str) -> None:
    told = plan(cli, record_set("www", annotations={"note": "\x1b[2J two\nlines"}), record_set("api"))

    assert "\x1b" not in told
    apply(cli, record_set("www"))
    told = plan(cli, record_set("www", annotations={"note": "\x1b[2J two\nlines"}))
    assert 'metadata.annotations[note]: nothing -> "\\u001b[2J two\\nlines"' in told


def test_without_an_api_there_is_no_plan(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, "http://127.0.0.1:1")

    complaint = Cli({"KUBECONFIG": str(path), "HOME": str(home)}).fails("plan", "-f", "-", stdin=text(record_set("a")))

    assert "no answer from the API" in complaint


async def test_nothing_is_written(home: Path, tmp_path: Path) -> None:
    """Counted at the API, with nobody else on it."""
    manifests = [zone_class(), zone("example.test"), record_set("www"), record_set("bad", ttl=0)]
    file = tmp_path / "all.yaml"
    file.write_text(text(*manifests, record_set("new", namespace="default")), encoding="utf-8")
    async with ApiServer(tmp_path / "data") as api, Client(Access(api.url)) as client:
        await install(client)
        for ref, each in zip((ZONE_CLASSES, ZONES, RECORD_SETS), manifests, strict=False):
            own = copy.deepcopy(each)
            own["metadata"]["namespace"] = "default"
            await client.apply(ref, own, manager=FIELD_MANAGER)
        kubeconfig = tmp_path / "kubeconfig"
        write_kubeconfig(kubeconfig, api.url)
        before = api.writes
        result = await asyncio.to_thread(
            finished, "plan", "-f", str(file), environment={"HOME": str(home), "KUBECONFIG": str(kubeconfig)}
        )

        assert (result.code, result.stderr) == (REFUSED, "")
        assert api.writes == before


@pytest.mark.parametrize("seed", range(4))
def test_the_ledger_becomes_what_was_planned(cli: Cli, namespace: str, served_zone: str, seed: int) -> None:
    chance = random.Random(seed)
    apply(cli, *(claim for claim in claims(chance, 6) if not conflicting(claim, 6)))
    before = ledger(cli)
    manifests = claims(chance, 12)

    document = planned(cli, *manifests, code=REFUSED)

    cli.run("apply", "-f", "-", stdin=text(*manifests))
    (found,) = document["zones"]
    for name in {each["metadata"]["name"] for each in manifests}:
        expected = [each for each in found["recordSets"] if each["name"] == name]
        accepted = not expected or expected[0]["accepted"]["status"] == "True"
        if accepted and name not in {each["object"].rpartition("/")[2] for each in found["refused"]}:
            cli.ok("wait", f"rrset/{name}")
    after = ledger(cli)
    effects = {each["name"]: each["effect"] for each in found["recordSets"] if each["effect"] != "none"}
    assert effects == {
        name: "create" if name not in before else "change"
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    }
    for each in found["recordSets"]:
        for change in each["changes"]:
            assert dig(after[each["name"]], change["field"]) == change["after"]
            assert dig(before.get(each["name"], {}), change["field"]) == change["before"]


def claims(chance: random.Random, count: int) -> list[dict[str, Any]]:
    """Claims for few names, so that some conflict, and some that are wrong."""
    found = []
    for number in range(count):
        ttl = chance.choice([60, 60, 300, 0 if count > 6 else 60])
        found.append(record_set(f"c{number}", f"192.0.2.{chance.randint(1, 3)}", owner=f"n{number % 8}", ttl=ttl))
    return found


def conflicting(claim: dict[str, Any], count: int) -> bool:
    return int(claim["metadata"]["name"][1:]) >= min(count, 8)


def ledger(cli: Cli) -> dict[str, dict[str, Any]]:
    """What the ledger holds by claim, without what only tells versions."""
    unit = cli.object("zoneunit/zone")
    return {
        item["recordSetName"]: {name: value for name, value in item.items() if name != "observedGeneration"}
        for item in unit["spec"].get("recordSets", ())
    }


def dig(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
