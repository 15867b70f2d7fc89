"""Creating objects: names, identity, defaults, and every refusal."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from tests.standalone.rest import Rest
from tests.standalone.widget import DEFINITIONS, Widgets, config_map, config_maps


async def test_create_gives_identity_and_defaults(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.post(widgets.path, widgets.make("one"))
    assert reply.code == 201
    created = reply.body
    metadata = created["metadata"]
    assert metadata["namespace"] == widgets.namespace
    assert metadata["generation"] == 1
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert int(metadata["resourceVersion"]) > 0
    assert created["spec"] == {"size": 1, "color": "grey"}
    assert (await rest.get(widgets.at("one"))).ok() == created


async def test_fields_that_only_the_server_sets_are_replaced(rest: Rest, widgets: Widgets) -> None:
    sent = {
        "uid": "mine",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "generation": 77,
        "selfLink": "/x",
    }
    metadata = (await rest.post(widgets.path, widgets.make("one", metadata=sent))).ok()["metadata"]
    assert metadata["uid"] != "mine"
    assert metadata["creationTimestamp"] != "2001-01-01T00:00:00Z"
    assert metadata["generation"] == 1
    assert not {"deletionTimestamp", "selfLink"} & metadata.keys()


async def test_a_status_sent_on_create_is_dropped(rest: Rest, widgets: Widgets) -> None:
    created = (await rest.post(widgets.path, widgets.make("one") | {"status": {"seen": 1}})).ok()
    assert "status" not in created


async def test_a_name_is_generated_from_a_prefix(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("")
    manifest["metadata"] = {"generateName": "box-"}
    names = {(await rest.post(widgets.path, manifest)).ok()["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(re.fullmatch(r"box-[a-z0-9]{5}", name) for name in names)


async def test_a_name_is_taken_once(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    reply = await rest.post(widgets.path, widgets.make("one"))
    assert reply.refused(409, "AlreadyExists") == f'widgets.{widgets.group} "one" already exists'
    assert reply.body["details"] == {"name": "one", "group": widgets.group, "kind": "widgets"}


async def test_a_missing_name_is_refused(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("")
    manifest["metadata"] = {}
    message = (await rest.post(widgets.path, manifest)).refused(422, "Invalid")
    assert message.startswith(f'Widget.{widgets.group} "" is invalid: ')
    assert "metadata.name: Required value: name or generateName is required" in message


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "dot.", "a" * 254])
async def test_a_name_that_is_no_subdomain_is_refused(rest: Rest, widgets: Widgets, name: str) -> None:
    message = (await rest.post(widgets.path, widgets.make(name))).refused(422, "Invalid")
    assert f'metadata.name: Invalid value: "{name}": ' in message


async def test_every_fault_is_in_one_refusal(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("one", size=0, color="pink", tags=["a", "a"], metadata={"labels": {"k": "bad value"}})
    reply = await rest.post(widgets.path, manifest)
    message = reply.refused(422, "Invalid")
    assert message.startswith(f'Widget.{widgets.group} "one" is invalid: [')
    assert reply.body["details"]["name"] == "one"
    assert reply.body["details"]["kind"] == "Widget"
    fields = {cause["field"] for cause in reply.body["details"]["causes"]}
    assert {"metadata.labels", "spec.size", "spec.color", "spec.tags[1]"} <= fields


async def test_a_required_field_is_named(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("one")
    del manifest["spec"]["size"]
    reply = await rest.post(widgets.path, manifest)
    message = reply.refused(422, "Invalid")
    assert message.startswith(f'Widget.{widgets.group} "one" is invalid: [spec.size: Required value, ')
    assert reply.body["details"]["causes"][0] == {
        "reason": "FieldValueRequired",
        "message": "Required value",
        "field": "spec.size",
    }


async def test_unknown_fields_are_dropped_with_a_warning(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.post(widgets.path, widgets.make("one", wight=3))
    assert "wight" not in reply.ok()["spec"]
    assert reply.warnings == ('299 - "unknown field \\"spec.wight\\""',)


async def test_unknown_fields_are_refused_when_validation_is_strict(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("one", wight=3, metadata={"lables": {}})
    message = (await rest.post(widgets.path, manifest, fieldValidation="Strict")).refused(400, "BadRequest")
    assert 'strict decoding error: unknown field "metadata.lables", unknown field "spec.wight"' in message


async def test_unknown_fields_are_dropped_in_silence_when_validation_is_ignored(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.post(widgets.path, widgets.make("one", wight=3), fieldValidation="Ignore")
    assert "wight" not in reply.ok()["spec"]
    assert reply.warnings == ()


async def test_a_field_twice_is_refused_when_validation_is_strict(rest: Rest, widgets: Widgets) -> None:
    text = f'{{"apiVersion":"{widgets.api_version}","kind":"Widget","metadata":{{"name":"one"}},"spec":{{"size":1,"size":2}}}}'
    message = (await rest.post(widgets.path, text.encode(), fieldValidation="Strict")).refused(400, "BadRequest")
    assert 'duplicate field "spec.size"' in message
    reply = await rest.post(widgets.path, text.encode(), fieldValidation="Warn")
    assert reply.ok()["spec"]["size"] == 2
    assert reply.warnings == ('299 - "duplicate field \\"spec.size\\""',)


async def test_a_dry_run_answers_and_stores_nothing(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.post(widgets.path, widgets.make("one"), dryRun="All")
    assert reply.code == 201
    assert reply.body["spec"]["color"] == "grey"
    assert "resourceVersion" not in reply.body["metadata"]
    assert (await rest.get(widgets.at("one"))).code == 404


async def test_a_dry_run_is_refused_as_the_real_one_would_be(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one", size=0), dryRun="All")).refused(422, "Invalid")
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    (await rest.post(widgets.path, widgets.make("one"), dryRun="All")).refused(409, "AlreadyExists")


async def test_a_resource_version_on_create_is_refused(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("one", metadata={"resourceVersion": "5"})
    reply = await rest.post(widgets.path, manifest)
    assert reply.code in (400, 500)
    assert reply.body["message"] == "resourceVersion should not be set on objects to be created"


async def test_another_version_or_kind_than_that_of_the_path_is_refused(rest: Rest, widgets: Widgets) -> None:
    other_version = widgets.make("one") | {"apiVersion": f"{widgets.group}/v2"}
    message = (await rest.post(widgets.path, other_version)).refused(400, "BadRequest")
    assert f"the API version in the data ({widgets.group}/v2) does not match the expected API version" in message
    message = (await rest.post(widgets.path, widgets.make("one") | {"kind": "Gadget"})).refused(422, "Invalid")
    assert 'kind: Invalid value: "Gadget": must be Widget' in message


async def test_another_namespace_than_that_of_the_path_is_refused(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("one", metadata={"namespace": "elsewhere"})
    message = (await rest.post(widgets.path, manifest)).refused(400, "BadRequest")
    assert message == "the namespace of the provided object does not match the namespace sent on the request"


async def test_metadata_of_a_wrong_type_is_refused(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("one", metadata={"labels": {"a": 1}})
    message = (await rest.post(widgets.path, manifest)).refused(400, "BadRequest")
    assert "json: cannot unmarshal number into Go struct field" in message
    assert "of type string" in message


@pytest.mark.parametrize("body", [b"{", b"", b"[]"])
async def test_a_body_that_is_no_object_is_refused(rest: Rest, widgets: Widgets, body: bytes) -> None:
    assert (await rest.post(widgets.path, body)).code == 400


async def test_yaml_is_read(rest: Rest, namespace: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n"
    reply = await rest.post(config_maps(namespace), text.encode(), content_type="application/yaml")
    assert reply.ok()["data"] == {"a": "b"}


async def test_an_unknown_content_type_is_refused(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.post(widgets.path, b"<widget/>", content_type="application/xml")
    reply.refused(415, "UnsupportedMediaType")


async def test_an_object_over_the_limit_is_refused_and_one_below_it_is_not(rest: Rest, namespace: str) -> None:
    path = config_maps(namespace)
    (await rest.post(path, config_map("small", a="x" * 900_000))).ok()
    assert (await rest.post(path, config_map("big", a="x" * 2_000_000))).code in (413, 422, 500)
    assert (await rest.get(f"{path}/big")).code == 404


async def test_empty_parts_of_metadata_are_not_kept(rest: Rest, widgets: Widgets) -> None:
    sent: dict[str, Any] = {"labels": {}, "annotations": {}, "finalizers": [], "ownerReferences": []}
    metadata = (await rest.post(widgets.path, widgets.make("one", metadata=sent))).ok()["metadata"]
    assert not sent.keys() & metadata.keys()


async def test_owner_references_have_to_be_complete(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make(
        "one", metadata={"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}]}
    )
    message = (await rest.post(widgets.path, manifest)).refused(422, "Invalid")
    assert "metadata.ownerReferences[0].uid: Required value" in message


async def test_values_of_nothing_are_empty_text(rest: Rest, namespace: str) -> None:
    """What a manifest leaves empty is null in JSON; text has no null."""
    manifest = config_map("one", metadata={"labels": {"a": None}, "annotations": {"b": None}}) | {"data": {"c": None}}
    created = (await rest.post(config_maps(namespace), manifest)).ok()
    assert (created["metadata"]["labels"], created["metadata"]["annotations"]) == ({"a": ""}, {"b": ""})
    assert created["data"] == {"c": ""}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}}
    data = {"a": None, "b": "", "c": "MTIz\nNDU2\n"}
    stored = await rest.post(
        f"/api/v1/namespaces/{namespace}/secrets", secret | {"data": data, "stringData": {"d": None}}
    )
    kept = {key: base64.b64decode(value) for key, value in stored.ok()["data"].items()}
    assert kept == {"a": b"", "b": b"", "c": b"123456", "d": b""}


@pytest.mark.parametrize("data", [{"a": 1}, {"a": []}, [], "x"])
async def test_wrong_types_in_a_built_in_kind_are_a_bad_request(rest: Rest, namespace: str, data: Any) -> None:
    reply = await rest.post(config_maps(namespace), config_map("one") | {"data": data})
    assert 'ConfigMap in version "v1" cannot be handled as a ConfigMap' in reply.refused(400, "BadRequest")


async def test_data_that_is_not_base64_is_a_bad_request(rest: Rest, namespace: str) -> None:
    reply = await rest.post(config_maps(namespace), config_map("one") | {"binaryData": {"a": "!"}})
    assert "illegal base64 data" in reply.refused(400, "BadRequest")


async def test_a_built_in_kind_need_not_be_named(rest: Rest, widgets: Widgets) -> None:
    body = {"metadata": {"name": "one"}, "data": {"a": "b"}}
    created = (await rest.post(config_maps(widgets.namespace), body)).ok()
    assert (created["apiVersion"], created["kind"]) == ("v1", "ConfigMap")
    nameless = {"apiVersion": widgets.api_version, "metadata": {"name": "one"}, "spec": {"size": 1}}
    assert "Object 'Kind' is missing" in (await rest.post(widgets.path, nameless)).refused(400, "BadRequest")


async def test_empty_data_is_no_data(rest: Rest, namespace: str) -> None:
    created = (await rest.post(config_maps(namespace), config_map("one") | {"binaryData": {}})).ok()
    assert not {"data", "binaryData"} & created.keys()
    assert "managedFields" not in created["metadata"]


async def test_whole_numbers_are_stored_as_such(rest: Rest, widgets: Widgets) -> None:
    text = f'{{"apiVersion":"{widgets.api_version}","kind":"Widget","metadata":{{"name":"one"}},"spec":{{"size":3.0}}}}'
    created = (await rest.post(widgets.path, text.encode())).ok()
    assert (created["spec"]["size"], type(created["spec"]["size"])) == (3, int)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("dryRun", "Some", 'dryRun: Unsupported value: ["Some"]: supported values: "All"'),
        ("dryRun", "", 'dryRun: Unsupported value: [""]: supported values: "All"'),
        ("fieldManager", "x" * 129, "fieldManager: Too long: may not be more than 128 bytes"),
        ("fieldManager", "a\x01", "invalid character U+0001 (at position 1)"),
        ("fieldValidation", "strict", 'Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"'),
    ],
)
async def test_options_are_judged(rest: Rest, widgets: Widgets, option: str, value: str, said: str) -> None:
    reply = await rest.post(widgets.path, widgets.make("one"), **{option: value})
    message = reply.refused(422, "Invalid")
    assert message.startswith('CreateOptions.meta.k8s.io "" is invalid: ')
    assert said in message
    assert [cause["field"] for cause in reply.body["details"]["causes"]] == [option]


async def test_a_refusal_comes_with_its_warnings(rest: Rest, widgets: Widgets) -> None:
    """A name that is written wrong is why the right one is missing."""
    manifest = widgets.make("one", sise=1)
    del manifest["spec"]["size"]
    reply = await rest.post(widgets.path, manifest)
    assert "spec.size: Required value" in reply.refused(422, "Invalid")
    assert reply.warnings == ('299 - "unknown field \\"spec.sise\\""',)
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    again = await rest.post(widgets.path, widgets.make("one", sise=1))
    again.refused(409, "AlreadyExists")
    assert again.warnings == reply.warnings


async def test_finalizers_say_whose_they_are(rest: Rest, widgets: Widgets) -> None:
    bare: dict[str, Any] = {"finalizers": ["mine"]}
    reply = await rest.post(config_maps(widgets.namespace), config_map("one", metadata=bare))
    assert "name is neither a standard finalizer name nor is it fully qualified" in reply.refused(422, "Invalid")
    custom = await rest.post(widgets.path, widgets.make("one", metadata=bare))
    assert custom.code == 201
    assert "prefer a domain-qualified finalizer name" in custom.warnings[0]
    assert not (await rest.patch(widgets.at("one"), {"metadata": {"labels": {"a": "b"}}})).warnings


async def test_repeated_owners_are_dropped_with_a_warning(rest: Rest, namespace: str) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "u-1"}
    reply = await rest.post(
        config_maps(namespace), config_map("one", metadata={"ownerReferences": [owner, owner]}), dryRun="All"
    )
    assert reply.ok()["metadata"]["ownerReferences"] == [owner]
    assert "duplicate UID(s) observed: u-1" in reply.warnings[0]


async def test_a_body_without_a_media_type_is_json(rest: Rest, namespace: str) -> None:
    assert (await rest.post(config_maps(namespace), config_map("one"), content_type="")).code == 201


@pytest.mark.parametrize(
    ("kind", "plural", "content", "field"),
    [
        ("v1 Secret", "secrets", {"type": "kubernetes.io/tls", "data": {"tls.crt": ""}}, "data[tls.key]"),
        ("v1 Secret", "secrets", {"type": "kubernetes.io/dockerconfigjson"}, "data[.dockerconfigjson]"),
        ("coordination.k8s.io/v1 Lease", "leases", {"spec": {"leaseDurationSeconds": 0}}, "spec.leaseDurationSeconds"),
        (
            "discovery.k8s.io/v1 EndpointSlice",
            "endpointslices",
            {"addressType": "IPv4", "endpoints": [{"addresses": []}]},
            "endpoints[0].addresses",
        ),
        ("v1 Service", "services", {"spec": {"type": "Odd", "ports": [{"port": 1}]}}, "spec.type"),
    ],
)
async def test_built_in_kinds_that_nobody_could_use_are_refused(
    rest: Rest, namespace: str, kind: str, plural: str, content: dict[str, Any], field: str
) -> None:
    version, name = kind.split()
    prefix = "/apis" if "/" in version else "/api"
    body = {"apiVersion": version, "kind": name, "metadata": {"name": "one"}, **content}
    reply = await rest.post(f"{prefix}/{version}/namespaces/{namespace}/{plural}", body)
    reply.refused(422, "Invalid")
    assert [cause["field"] for cause in reply.body["details"]["causes"]] == [field]


async def test_services_get_what_their_type_implies(rest: Rest, namespace: str) -> None:
    spec = {"type": "LoadBalancer", "sessionAffinity": "ClientIP", "ports": [{"port": 80}]}
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "one"}, "spec": spec}
    stored = (await rest.post(f"/api/v1/namespaces/{namespace}/services", body)).ok()["spec"]
    assert stored["allocateLoadBalancerNodePorts"] is True
    assert stored["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}


@pytest.mark.parametrize(
    ("path", "manifest"),
    [
        (
            "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices",
            {"addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.1"], "hostname": None}], "ports": None},
        ),
        ("/api/v1/namespaces/{}/configmaps", {"data": None, "immutable": None}),
        ("/api/v1/namespaces/{}/secrets", {"data": None, "stringData": None, "type": None}),
        ("/api/v1/namespaces/{}/services", {"spec": {"ports": [{"port": 80, "name": None}], "selector": None}}),
        ("/apis/coordination.k8s.io/v1/namespaces/{}/leases", {"spec": {"holderIdentity": None, "renewTime": None}}),
    ],
    ids=["EndpointSlice", "ConfigMap", "Secret", "Service", "Lease"],
)
async def test_null_is_nothing_in_a_built_in_kind(
    rest: Rest, namespace: str, path: str, manifest: dict[str, Any]
) -> None:
    """Clients of Go write it for lists and maps that are empty, and a real server for the ports of an EndpointSlice."""
    stored = (await rest.post(path.format(namespace), {"metadata": {"name": "one"}, **manifest})).ok()
    assert {key for key, value in stored.items() if value is None} <= {"ports"}
    (await rest.put(f"{path.format(namespace)}/one", {**manifest, "metadata": stored["metadata"]})).ok()


async def test_a_definition_may_have_nulls_for_its_status(rest: Rest, widgets: Widgets) -> None:
    """Generators of manifests wrote it so for years."""
    definition = (await rest.get(widgets.definition_path)).ok()
    names = {"plural": "others", "kind": "Other", "shortNames": None}
    manifest = {
        "metadata": {"name": f"others.{widgets.group}", "creationTimestamp": None},
        "spec": definition["spec"] | {"names": names},
        "status": {"acceptedNames": {"kind": "", "plural": ""}, "conditions": None, "storedVersions": None},
    }
    stored = (await rest.post(DEFINITIONS, manifest)).ok()
    assert stored["status"]["storedVersions"] == definition["status"]["storedVersions"]
    (await rest.delete(f"{DEFINITIONS}/others.{widgets.group}")).ok()
