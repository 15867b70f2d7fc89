"""Single changes: create, edit, patch, label, annotate, delete, and waiting for what follows."""

import base64
import json
from pathlib import Path

import pytest

from tests.standalone.kubectl.command import Command
from tests.standalone.kubectl.crontab import crontab


def test_a_created_namespace_is_active_at_once(cluster: Command, kubectl: Command) -> None:
    found = cluster.json("get", "namespace", str(kubectl.namespace))
    assert found["status"]["phase"] == "Active"
    assert found["spec"]["finalizers"] == ["kubernetes"]
    assert found["metadata"]["labels"]["kubernetes.io/metadata.name"] == kubectl.namespace


def test_create_secret_keeps_its_bytes(kubectl: Command, tmp_path: Path) -> None:
    content = bytes(range(256))
    (tmp_path / "blob").write_bytes(content)
    arguments = ("--from-literal=user=me", f"--from-file={tmp_path / 'blob'}")
    assert kubectl.ok("create", "secret", "generic", "login", *arguments) == "secret/login created\n"
    found = kubectl.json("get", "secret", "login")
    assert found["type"] == "Opaque"
    assert base64.b64decode(found["data"]["user"]) == b"me"
    assert base64.b64decode(found["data"]["blob"]) == content


def test_create_configmap_keeps_text_and_bytes(kubectl: Command, tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"\xff\x00")
    kubectl.ok("create", "configmap", "settings", "--from-literal=a=1", f"--from-file={tmp_path / 'blob'}")
    found = kubectl.json("get", "configmap", "settings")
    assert found["data"] == {"a": "1"}
    assert base64.b64decode(found["binaryData"]["blob"]) == b"\xff\x00"


def test_create_service_and_service_account(kubectl: Command) -> None:
    assert kubectl.ok("create", "service", "clusterip", "web", "--tcp=80:8080") == "service/web created\n"
    (port,) = kubectl.json("get", "service", "web")["spec"]["ports"]
    assert (port["port"], port["targetPort"], port["protocol"]) == (80, 8080, "TCP")
    assert kubectl.ok("create", "serviceaccount", "robot") == "serviceaccount/robot created\n"


def test_edit_saves_what_the_editor_leaves(kubectl: Command, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/replicas: 1/replicas: 5/' \"$1\"\n")
    editor.chmod(0o755)
    kubectl.ok("create", "-f", "-", stdin=crontab())
    edited = kubectl.ok("edit", "ct", "nightly", environment={"EDITOR": str(editor)})
    assert edited == "crontab.stable.example.com/nightly edited\n"
    assert kubectl.json("get", "ct", "nightly")["spec"]["replicas"] == 5


def test_edit_of_a_built_in_kind(kubectl: Command, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/a: "1"/a: "2"/\' "$1"\n')
    editor.chmod(0o755)
    kubectl.ok("create", "configmap", "settings", "--from-literal=a=1")
    assert kubectl.ok("edit", "configmap", "settings", environment={"EDITOR": str(editor)}) == (
        "configmap/settings edited\n"
    )
    assert kubectl.json("get", "configmap", "settings")["data"] == {"a": "2"}


@pytest.mark.parametrize(
    ("patch_type", "patch"),
    [
        ("merge", {"spec": {"replicas": 4, "image": None}}),
        ("json", [{"op": "replace", "path": "/spec/replicas", "value": 4}, {"op": "remove", "path": "/spec/image"}]),
    ],
)
def test_patch_by_each_type_that_custom_resources_have(kubectl: Command, patch_type: str, patch: object) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab(image="alpine"))
    output = kubectl.ok("patch", "ct", "nightly", f"--type={patch_type}", "-p", json.dumps(patch))
    assert output == "crontab.stable.example.com/nightly patched\n"
    assert kubectl.json("get", "ct", "nightly")["spec"] == {"schedule": "0 3 * * *", "image": "busybox", "replicas": 4}


def test_patch_without_a_type_is_for_built_in_kinds(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    complaint = kubectl.fails("patch", "ct", "nightly", "-p", '{"spec":{"replicas":2}}')
    assert "application/strategic-merge-patch+json is not supported by stable.example.com/v1, Kind=CronTab" in complaint
    kubectl.ok("create", "configmap", "settings", "--from-literal=a=1")
    kubectl.ok("patch", "configmap", "settings", "-p", '{"data":{"b":"2"}}')
    assert kubectl.json("get", "configmap", "settings")["data"] == {"a": "1", "b": "2"}


def test_a_patch_that_changes_nothing_says_so(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    version = kubectl.json("get", "ct", "nightly")["metadata"]["resourceVersion"]
    output = kubectl.ok("patch", "ct", "nightly", "--type=merge", "-p", '{"spec":{"replicas":1}}')
    assert output == "crontab.stable.example.com/nightly patched (no change)\n"
    assert kubectl.json("get", "ct", "nightly")["metadata"]["resourceVersion"] == version


def test_a_failing_json_patch_says_why(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    complaint = kubectl.fails(
        "patch", "ct", "nightly", "--type=json", "-p", '[{"op":"test","path":"/spec/replicas","value":9}]'
    )
    assert "the server rejected our request due to an error in our request" in complaint or "test" in complaint


def test_a_patch_to_an_invalid_object_is_refused_by_field(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    complaint = kubectl.fails("patch", "ct", "nightly", "--type=merge", "-p", '{"spec":{"replicas":99}}')
    assert 'The CronTab "nightly" is invalid' in complaint
    assert "spec.replicas" in complaint


def test_the_status_is_written_apart(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    status = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}, "spec": {"replicas": 9}}
    patch = ("patch", "ct", "nightly", "--type=merge", "-p", json.dumps(status))
    kubectl.ok(*patch, "--subresource=status")
    found = kubectl.json("get", "ct", "nightly")
    assert found["spec"]["replicas"] == 1
    assert found["status"] == status["status"]
    assert found["metadata"]["generation"] == 1
    kubectl.ok("patch", "ct", "nightly", "--type=merge", "-p", '{"status":null,"spec":{"replicas":2}}')
    assert kubectl.json("get", "ct", "nightly", "--subresource=status")["status"] == status["status"]


def test_the_status_is_edited_and_replaced_apart(kubectl: Command, tmp_path: Path) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    found = kubectl.json("get", "ct", "nightly")
    changed = found | {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    changed["spec"] = found["spec"] | {"replicas": 9}
    kubectl.ok("replace", "--subresource=status", "-f", "-", stdin=json.dumps(changed))
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/status: "False"/status: "True"/\' "$1"\n')
    editor.chmod(0o755)
    kubectl.ok("edit", "ct", "nightly", "--subresource=status", environment={"EDITOR": str(editor)})
    after = kubectl.json("get", "ct", "nightly")
    assert after["spec"]["replicas"] == 1
    assert after["status"] == {"conditions": [{"type": "Ready", "status": "True"}]}


def test_the_status_is_applied_on_the_server_apart(kubectl: Command) -> None:
    kubectl.ok("apply", "--server-side", "-f", "-", stdin=crontab())
    reported = {
        "apiVersion": "stable.example.com/v1",
        "kind": "CronTab",
        "metadata": {"name": "nightly"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    arguments = ("apply", "--server-side", "--subresource=status", "--field-manager=controller", "-f", "-")
    kubectl.ok(*arguments, stdin=json.dumps(reported))
    found = kubectl.json("get", "ct", "nightly", "--show-managed-fields")
    assert found["status"] == reported["status"]
    entry = next(each for each in found["metadata"]["managedFields"] if each["manager"] == "controller")
    assert (entry["operation"], entry["subresource"]) == ("Apply", "status")
    assert set(entry["fieldsV1"]) == {"f:status"}


def test_label_and_annotate_add_change_and_remove(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    assert kubectl.ok("label", "ct", "nightly", "team=a").endswith("nightly labeled\n")
    assert "already has a value" in kubectl.fails("label", "ct", "nightly", "team=b")
    assert kubectl.ok("label", "ct", "nightly", "team=b", "--overwrite").endswith("nightly labeled\n")
    assert kubectl.ok("get", "ct", "-l", "team=b", "-o", "name") == "crontab.stable.example.com/nightly\n"
    assert kubectl.ok("label", "ct", "nightly", "team-").endswith("nightly unlabeled\n")
    assert kubectl.ok("annotate", "ct", "nightly", "note=seen").endswith("nightly annotated\n")
    assert kubectl.json("get", "ct", "nightly")["metadata"]["annotations"]["note"] == "seen"
    assert kubectl.ok("annotate", "ct", "--all", "note-").endswith("nightly annotated\n")
    assert kubectl.json("get", "ct", "nightly")["metadata"]["generation"] == 1


def test_delete_waits_until_the_object_is_gone(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    output = kubectl.ok("delete", "ct", "nightly")
    assert output.startswith('crontab.stable.example.com "nightly" deleted')
    complaint = kubectl.fails("delete", "ct", "nightly")
    assert 'Error from server (NotFound): crontabs.stable.example.com "nightly" not found' in complaint
    assert kubectl.ok("delete", "ct", "nightly", "--ignore-not-found") == ""


def test_delete_by_label_and_all(kubectl: Command) -> None:
    for name, team in (("a", "x"), ("b", "x"), ("c", "y")):
        kubectl.ok("create", "-f", "-", stdin=crontab(name, labels={"team": team}))
    assert kubectl.ok("delete", "ct", "-l", "team=x").count(" deleted") == 2
    assert kubectl.ok("get", "ct", "-o", "name") == "crontab.stable.example.com/c\n"
    kubectl.ok("delete", "ct", "--all")
    assert kubectl.run("get", "ct").stderr == f"No resources found in {kubectl.namespace} namespace.\n"


def test_delete_waits_for_finalizers_and_ends_when_they_go(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    finalize = ("patch", "ct", "nightly", "--type=merge", "-p")
    kubectl.ok(*finalize, '{"metadata":{"finalizers":["example.com/hold"]}}')
    with kubectl.stream("delete", "ct", "nightly", "--timeout=25s") as deletion:
        deletion.until(lambda line: '"nightly" deleted' in line)
        held = kubectl.json("get", "ct", "nightly")["metadata"]
        assert held["finalizers"] == ["example.com/hold"]
        assert held["deletionTimestamp"]
        kubectl.ok(*finalize, '{"metadata":{"finalizers":null}}')
        assert deletion.end() == 0
    assert "NotFound" in kubectl.fails("get", "ct", "nightly")


@pytest.mark.parametrize("policy", ["background", "foreground"])
def test_a_deleted_owner_takes_its_dependents_along(kubectl: Command, policy: str) -> None:
    _owner_and_dependent(kubectl)
    kubectl.ok("delete", "ct", "owner", f"--cascade={policy}")
    kubectl.ok(
        "wait", "--for=delete", "configmap/dependent", "--timeout=80s"
    )  # a real collector looks for new kinds every 30 s


def test_an_orphaned_dependent_stays_without_its_owner(kubectl: Command) -> None:
    _owner_and_dependent(kubectl)
    kubectl.ok("delete", "ct", "owner", "--cascade=orphan")
    assert "ownerReferences" not in kubectl.json("get", "configmap", "dependent")["metadata"]


def _owner_and_dependent(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab("owner"))
    owner = {
        "apiVersion": "stable.example.com/v1",
        "kind": "CronTab",
        "name": "owner",
        "uid": kubectl.json("get", "ct", "owner")["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    metadata = {"name": "dependent", "ownerReferences": [owner]}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    kubectl.ok("create", "-f", "-", stdin=json.dumps(manifest))


def test_wait_for_a_condition_a_field_and_a_creation(kubectl: Command) -> None:
    ready = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    with kubectl.stream("wait", "--for=create", "ct/nightly", "--timeout=25s") as creation:
        kubectl.ok("create", "-f", "-", stdin=crontab())
        creation.until(lambda line: "condition met" in line)
    with kubectl.stream("wait", "--for=condition=Ready", "ct/nightly", "--timeout=25s") as condition:
        kubectl.ok("patch", "ct", "nightly", "--subresource=status", "--type=merge", "-p", ready)
        condition.until(lambda line: "condition met" in line)
    with kubectl.stream("wait", "--for=jsonpath={.spec.replicas}=3", "ct/nightly", "--timeout=25s") as field:
        kubectl.ok("patch", "ct", "nightly", "--type=merge", "-p", '{"spec":{"replicas":3}}')
        field.until(lambda line: "condition met" in line)


def test_wait_gives_up_at_its_time_limit(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    complaint = kubectl.fails("wait", "--for=condition=Ready", "ct/nightly", "--timeout=1s")
    assert complaint == "error: timed out waiting for the condition on crontabs/nightly\n"


def test_a_deleted_namespace_takes_everything_in_it_along(cluster: Command, kubectl: Command) -> None:
    name = str(kubectl.namespace)
    kubectl.ok("create", "-f", "-", stdin=crontab())
    kubectl.ok("create", "configmap", "settings")
    kubectl.ok("create", "secret", "generic", "login", "--from-literal=a=b")
    output = cluster.ok("delete", "namespace", name, "--timeout=25s")
    assert output.startswith(f'namespace "{name}" deleted')
    assert "NotFound" in cluster.fails("get", "namespace", name)
    cluster.ok("create", "namespace", name)
    assert kubectl.ok("get", "ct,configmap,secret", "-o", "name") == ""


def test_a_namespace_says_what_keeps_it_and_takes_nothing_new(cluster: Command, kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    finalize = ("patch", "ct", "nightly", "--type=merge", "-p")
    kubectl.ok(*finalize, '{"metadata":{"finalizers":["example.com/hold"]}}')
    namespace = f"namespace/{kubectl.namespace}"
    cluster.ok("delete", namespace, "--wait=false")
    cluster.ok("wait", "--for=jsonpath={.status.phase}=Terminating", namespace, "--timeout=20s")
    cluster.ok("wait", "--for=condition=NamespaceFinalizersRemaining", namespace, "--timeout=20s")
    complaint = kubectl.fails("create", "configmap", "late")
    assert "is being terminated" in complaint
    kubectl.ok(*finalize, '{"metadata":{"finalizers":null}}')
    cluster.ok("wait", "--for=delete", namespace, "--timeout=20s")
