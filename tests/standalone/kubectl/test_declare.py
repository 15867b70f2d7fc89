"""Declared state: apply on either side, diff, replace, and what is refused."""

import json
from pathlib import Path

from tests.standalone.kubectl.command import Command
from tests.standalone.kubectl.crontab import crontab


def test_apply_creates_then_leaves_alone_then_configures(kubectl: Command) -> None:
    assert kubectl.ok("apply", "-f", "-", stdin=crontab()) == "crontab.stable.example.com/nightly created\n"
    assert kubectl.ok("apply", "-f", "-", stdin=crontab()) == "crontab.stable.example.com/nightly unchanged\n"
    before = kubectl.json("get", "ct", "nightly")
    assert kubectl.ok("apply", "-f", "-", stdin=crontab(replicas=3)).endswith(" configured\n")
    after = kubectl.json("get", "ct", "nightly")
    assert after["spec"] == {"schedule": "0 3 * * *", "image": "busybox", "replicas": 3}
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def test_apply_removes_what_the_manifest_no_longer_says(kubectl: Command) -> None:
    kubectl.ok("apply", "-f", "-", stdin=crontab(image="alpine", labels={"team": "a"}))
    kubectl.ok("apply", "-f", "-", stdin=crontab())
    found = kubectl.json("get", "ct", "nightly")
    assert found["spec"]["image"] == "busybox"
    assert "labels" not in found["metadata"]


def test_apply_of_built_in_kinds_merges_their_lists_by_key(kubectl: Command) -> None:
    service = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports:
  - {name: http, port: 80}
"""
    kubectl.ok("apply", "-f", "-", stdin=service)
    kubectl.ok("patch", "service", "web", "-p", '{"spec":{"ports":[{"name":"dns","port":53,"protocol":"UDP"}]}}')
    assert kubectl.ok("apply", "-f", "-", stdin=service.replace("port: 80", "port: 80, appProtocol: h2c")).endswith(
        "service/web configured\n"
    )
    ports = {port["name"]: port for port in kubectl.json("get", "service", "web")["spec"]["ports"]}
    assert set(ports) == {"http", "dns"}
    assert ports["http"]["appProtocol"] == "h2c"


def test_server_side_apply_owns_fields_and_conflicts_name_the_owner(kubectl: Command) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    assert kubectl.ok(*apply, stdin=crontab(replicas=2)).endswith(" serverside-applied\n")
    complaint = kubectl.fails(*apply, "--field-manager=other", stdin=crontab(replicas=4))
    assert 'conflict with "kubectl": .spec.replicas' in complaint
    assert kubectl.ok(*apply, "--field-manager=other", "--force-conflicts", stdin=crontab(replicas=4))
    managers = kubectl.json("get", "ct", "nightly", "--show-managed-fields")["metadata"]["managedFields"]
    owners = {entry["manager"] for entry in managers if "f:replicas" in entry["fieldsV1"].get("f:spec", {})}
    assert owners == {"other"}


def test_server_side_apply_merges_list_items_by_their_key(kubectl: Command) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    kubectl.ok(*apply, "--field-manager=one", stdin=crontab(steps=[{"name": "a", "command": "x"}]))
    kubectl.ok(*apply, "--field-manager=two", stdin=crontab(steps=[{"name": "b"}]))
    assert {step["name"] for step in kubectl.json("get", "ct", "nightly")["spec"]["steps"]} == {"a", "b"}
    kubectl.ok(*apply, "--field-manager=two", stdin=crontab())
    assert kubectl.json("get", "ct", "nightly")["spec"]["steps"] == [{"name": "a", "command": "x"}]


def test_server_side_apply_takes_over_from_client_side_apply(kubectl: Command) -> None:
    kubectl.ok("apply", "-f", "-", stdin=crontab(image="alpine"))
    manifest = crontab(labels={"team": "a"})
    assert kubectl.ok("apply", "--server-side", "-f", "-", stdin=manifest).endswith(" serverside-applied\n")
    found = kubectl.json("get", "ct", "nightly", "--show-managed-fields")
    assert found["metadata"]["labels"] == {"team": "a"}
    assert found["spec"] == {"schedule": "0 3 * * *", "image": "busybox", "replicas": 1}
    assert {entry["manager"] for entry in found["metadata"]["managedFields"]} <= {"kubectl", "kubectl-last-applied"}


def test_diff_shows_the_change_without_making_it(kubectl: Command) -> None:
    kubectl.ok("apply", "-f", "-", stdin=crontab())
    assert kubectl.ok("diff", "-f", "-", stdin=crontab()) == ""
    result = kubectl.run("diff", "-f", "-", stdin=crontab(replicas=7))
    assert (result.code, result.stderr) == (1, "")
    assert "-  replicas: 1\n+  replicas: 7\n" in result.stdout
    assert "managedFields" not in result.stdout
    server_side = kubectl.run("diff", "--server-side", "--force-conflicts", "-f", "-", stdin=crontab(replicas=7))
    assert (server_side.code, server_side.stderr) == (1, "")
    assert "+  replicas: 7\n" in server_side.stdout
    assert kubectl.json("get", "ct", "nightly")["spec"]["replicas"] == 1


def test_diff_of_an_object_that_is_not_there_shows_all_of_it(kubectl: Command) -> None:
    result = kubectl.run("diff", "-f", "-", stdin=crontab())
    assert (result.code, result.stderr) == (1, "")
    assert "+kind: CronTab\n" in result.stdout
    assert "NotFound" in kubectl.fails("get", "ct", "nightly")


def test_create_refuses_a_second_one_of_the_same_name(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    complaint = kubectl.fails("create", "-f", "-", stdin=crontab())
    assert "Error from server (AlreadyExists)" in complaint
    assert 'crontabs.stable.example.com "nightly" already exists' in complaint


def test_replace_sets_the_whole_object_and_needs_it_to_be_there(kubectl: Command) -> None:
    assert "Error from server (NotFound)" in kubectl.fails("replace", "-f", "-", stdin=crontab())
    kubectl.ok("create", "-f", "-", stdin=crontab(image="alpine", labels={"team": "a"}))
    assert kubectl.ok("replace", "-f", "-", stdin=crontab(replicas=2)).endswith(" replaced\n")
    found = kubectl.json("get", "ct", "nightly")
    assert (found["spec"]["image"], found["spec"]["replicas"]) == ("busybox", 2)
    assert "labels" not in found["metadata"]
    assert "crontab.stable.example.com/nightly replaced" in kubectl.ok("replace", "--force", "-f", "-", stdin=crontab())


def test_replace_of_a_stale_object_is_a_conflict(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    stale = kubectl.ok("get", "ct", "nightly", "-o", "json")
    kubectl.ok("label", "ct", "nightly", "team=a")
    complaint = kubectl.fails("replace", "-f", "-", stdin=stale.replace('"replicas": 1', '"replicas": 2'))
    assert "Error from server (Conflict)" in complaint
    assert "the object has been modified" in complaint


def test_a_wrong_manifest_gets_one_refusal_with_every_fault(kubectl: Command) -> None:
    wrong = crontab(schedule="x", replicas=11, steps=[{"name": "a"}, {"name": "b", "command": 7}])
    for command in (("create",), ("apply",)):
        complaint = kubectl.fails(*command, "-f", "-", stdin=wrong)
        assert complaint.startswith('The CronTab "nightly" is invalid: ')
        assert "spec.schedule: Invalid value" in complaint
        assert "spec.replicas: Invalid value: 11" in complaint
        assert "spec.steps[1].command: Invalid value" in complaint
    complaint = kubectl.fails("apply", "--server-side", "-f", "-", stdin=crontab(schedule="x", replicas=11))
    assert "spec.schedule" in complaint
    assert "spec.replicas" in complaint
    assert "NotFound" in kubectl.fails("get", "ct", "nightly")


def test_a_list_item_without_its_key_cannot_be_applied(kubectl: Command) -> None:
    wrong = crontab(steps=[{"command": "nameless"}])
    assert "spec.steps[0].name: Required value" in kubectl.fails("apply", "-f", "-", stdin=wrong)
    complaint = kubectl.fails("apply", "--server-side", "-f", "-", stdin=wrong)
    assert ".spec.steps" in complaint
    assert '"name"' in complaint


def test_an_unknown_field_is_refused_or_warned_of_as_asked(kubectl: Command) -> None:
    wrong = crontab(unheard=1)
    assert 'unknown field "spec.unheard"' in kubectl.fails("apply", "-f", "-", stdin=wrong)
    warned = kubectl.run("apply", "--validate=warn", "-f", "-", stdin=wrong)
    assert warned.code == 0
    assert 'Warning: unknown field "spec.unheard"' in warned.stderr
    assert kubectl.ok("apply", "--validate=ignore", "-f", "-", stdin=crontab("other", unheard=1))
    assert "unheard" not in kubectl.json("get", "ct", "other")["spec"]


def test_a_dry_run_on_the_server_says_what_would_be_and_keeps_nothing(kubectl: Command) -> None:
    output = kubectl.ok("apply", "--dry-run=server", "-f", "-", stdin=crontab())
    assert output == "crontab.stable.example.com/nightly created (server dry run)\n"
    assert "NotFound" in kubectl.fails("get", "ct", "nightly")
    defaulted = kubectl.ok("create", "--dry-run=server", "-o", "jsonpath={.spec.image}", "-f", "-", stdin=crontab())
    assert defaulted == "busybox"


def test_apply_set_of_many_objects_and_delete_by_the_same_file(kubectl: Command) -> None:
    many = "\n---\n".join(crontab(f"job-{number}") for number in range(5))
    assert kubectl.ok("apply", "-f", "-", stdin=many).count(" created\n") == 5
    assert kubectl.ok("delete", "-f", "-", stdin=many).count(" deleted") == 5
    assert kubectl.ok("get", "ct", "-o", "name") == ""


def test_apply_prunes_what_is_no_longer_in_the_set(kubectl: Command) -> None:
    labels = {"app": "cron"}
    prune = ("apply", "--prune", "-l", "app=cron", "--prune-allowlist=stable.example.com/v1/CronTab", "-f", "-")
    kubectl.ok(*prune, stdin=crontab("a", labels=labels) + "\n---\n" + crontab("b", labels=labels))
    assert "crontab.stable.example.com/b pruned" in kubectl.ok(*prune, stdin=crontab("a", labels=labels))
    assert kubectl.ok("get", "ct", "-o", "name") == "crontab.stable.example.com/a\n"


def test_a_list_in_one_document_is_applied_item_by_item(kubectl: Command) -> None:
    items = [json.loads(crontab(f"job-{number}")) for number in range(3)]
    manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    assert kubectl.ok("apply", "-f", "-", stdin=manifest).count(" created\n") == 3
    assert kubectl.ok("diff", "-f", "-", stdin=manifest) == ""


def test_a_kustomization_is_applied(kubectl: Command, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(crontab())
    (tmp_path / "kustomization.yaml").write_text("resources: [job.yaml]\nnamePrefix: very-\n")
    assert kubectl.ok("apply", "-k", str(tmp_path)) == "crontab.stable.example.com/very-nightly created\n"
