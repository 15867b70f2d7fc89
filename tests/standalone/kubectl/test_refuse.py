"""What the server refuses, in the words that Kubernetes has for it."""

import json
from typing import Any

import pytest

from tests.standalone.kubectl.command import Command
from tests.standalone.kubectl.crontab import crontab


def config_map(name: str = "settings", **more: Any) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} | more)


def test_an_object_in_a_namespace_that_is_not_there(cluster: Command) -> None:
    complaint = cluster.within("nowhere").fails("create", "configmap", "settings")
    assert 'namespaces "nowhere" not found' in complaint


@pytest.mark.parametrize("name", ["Bad_Name", "-x", "a" * 254, "a..b"])
def test_a_name_that_is_none(kubectl: Command, name: str) -> None:
    complaint = kubectl.fails("create", "-f", "-", stdin=config_map(name))
    assert f'The ConfigMap "{name}" is invalid: metadata.name: Invalid value: "{name}"' in complaint


def test_a_namespace_name_is_a_single_label(cluster: Command) -> None:
    complaint = cluster.fails("create", "namespace", "a.b")
    assert 'metadata.name: Invalid value: "a.b": must not contain dots' in complaint


def test_labels_that_are_none(kubectl: Command) -> None:
    wrong = json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"a b": "c", "d": "e f"}}}
    )
    complaint = kubectl.fails("create", "-f", "-", stdin=wrong)
    assert 'metadata.labels: Invalid value: "a b"' in complaint
    assert 'metadata.labels: Invalid value: "e f"' in complaint


@pytest.mark.parametrize("name", ["default", "kube-system"])
def test_the_namespaces_the_server_lives_on_stay(cluster: Command, name: str) -> None:
    complaint = cluster.fails("delete", "namespace", name)
    assert "this namespace may not be deleted" in complaint
    assert cluster.json("get", "namespace", name)["status"]["phase"] == "Active"


def test_annotations_past_their_limit(kubectl: Command) -> None:
    complaint = kubectl.fails("apply", "-f", "-", stdin=config_map(data={"a": "x" * 270_000}))
    assert "metadata.annotations: Too long: may not be more than 262144 bytes" in complaint
    assert kubectl.ok("apply", "--server-side", "-f", "-", stdin=config_map(data={"a": "x" * 270_000}))


def test_an_object_past_the_size_limit(kubectl: Command) -> None:
    complaint = kubectl.fails("create", "-f", "-", stdin=config_map(data={"a": "x" * 1_100_000}))
    assert "Too long" in complaint
    complaint = kubectl.fails("create", "-f", "-", stdin=crontab(image="x" * 1_700_000))
    assert "too large" in complaint


def test_a_secret_keeps_its_type_and_an_immutable_one_its_data(kubectl: Command) -> None:
    kubectl.ok("create", "secret", "generic", "login", "--from-literal=a=b")
    retyped = kubectl.fails("patch", "secret", "login", "--type=merge", "-p", '{"type":"kubernetes.io/tls"}')
    assert "type: Invalid value" in retyped
    assert "field is immutable" in retyped
    kubectl.ok("patch", "secret", "login", "--type=merge", "-p", '{"immutable":true}')
    changed = kubectl.fails("patch", "secret", "login", "--type=merge", "-p", '{"data":{"a":"Yw=="}}')
    assert "data: Forbidden: field is immutable when `immutable` is set" in changed


def test_data_that_is_no_base64(kubectl: Command) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}, "data": {"a": "not base64!"}}
    complaint = kubectl.fails("create", "-f", "-", stdin=json.dumps(secret))
    assert "data" in complaint
    assert "base64" in complaint


def test_identity_is_not_changed_by_an_update(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab())
    complaint = kubectl.fails("patch", "ct", "nightly", "--type=merge", "-p", '{"metadata":{"uid":"other"}}')
    assert 'metadata.uid: Invalid value: "other": field is immutable' in complaint
    renamed = kubectl.fails("patch", "ct", "nightly", "--type=merge", "-p", '{"metadata":{"name":"other"}}')
    assert "the name of the object (other) does not match the name on the URL (nightly)" in renamed


def test_a_definition_whose_schema_is_not_structural(cluster: Command) -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "broken.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "broken", "kind": "Broken"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"properties": {}}}}},
                }
            ],
        },
    }
    complaint = cluster.fails("create", "-f", "-", stdin=json.dumps(definition))
    assert 'The CustomResourceDefinition "broken.example.org" is invalid' in complaint
    assert (
        "spec.validation.openAPIV3Schema.properties[spec].type: Required value" in complaint
        or "spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required value" in complaint
    )


def test_a_definition_whose_name_does_not_fit(cluster: Command) -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "other.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    complaint = cluster.fails("create", "-f", "-", stdin=json.dumps(definition))
    assert 'metadata.name: Invalid value: "other.example.org": must be spec.names.plural+"."+spec.group' in complaint


def test_a_validation_rule_says_its_message(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab(image="alpine"))
    complaint = kubectl.fails("patch", "ct", "nightly", "--type=merge", "-p", '{"spec":{"mode":"loud"}}')
    assert complaint.startswith('The CronTab "nightly" is invalid: spec: Invalid value: ')
    assert complaint.endswith(": loud jobs need two replicas\n")
    wrong = kubectl.fails("patch", "ct", "nightly", "--type=merge", "-p", '{"spec":{"mode":"shrill"}}')
    assert 'spec.mode: Unsupported value: "shrill": supported values: "quiet", "loud"' in wrong


def test_a_field_that_a_rule_freezes(kubectl: Command) -> None:
    kubectl.ok("create", "-f", "-", stdin=crontab(owner="me"))
    complaint = kubectl.fails("patch", "ct", "nightly", "--type=merge", "-p", '{"spec":{"owner":"you"}}')
    assert "spec.owner: Invalid value" in complaint
    assert "the owner cannot be changed" in complaint


def test_a_kind_that_is_not_served(kubectl: Command) -> None:
    unheard = '{"apiVersion":"v1","kind":"Unheard","metadata":{"name":"x"}}'
    complaint = kubectl.fails("apply", "-f", "-", stdin=unheard)
    assert 'no matches for kind "Unheard" in version "v1"' in complaint


def test_an_event_about_an_object_elsewhere(kubectl: Command) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "x"},
        "involvedObject": {"kind": "CronTab", "name": "a", "namespace": "elsewhere"},
    }
    complaint = kubectl.fails("create", "-f", "-", stdin=json.dumps(event))
    assert "involvedObject.namespace: Invalid value" in complaint
