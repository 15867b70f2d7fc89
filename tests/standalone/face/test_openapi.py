"""OpenAPI documents: what clients validate, explain and merge by."""

import dataclasses
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from standalone.openapi import v2_document, v2_protobuf, v3_document, v3_index
from standalone.openapi.builtin import builtin_schema
from standalone.protobuf.wire import fields
from standalone.resource import Resource
from standalone.schema.structural import StructuralSchema

CRON_SCHEMA = {
    "type": "object",
    "description": "A job on a schedule.",
    "required": ["spec"],
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object", "description": "Whose it is."},
        "spec": {
            "type": "object",
            "properties": {
                "schedule": {"type": "string", "default": "daily", "nullable": True},
                "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "rules": {"type": "array", "items": {"type": "object", "not": {"required": ["a"]}}},
            },
            "x-kubernetes-validations": [{"rule": "true"}],
        },
    },
}
CRON = Resource(
    "stable.example.com",
    "v1",
    "crontabs",
    "crontab",
    "CronTab",
    "CronTabList",
    True,
    has_status=True,
    custom=True,
    schema=CRON_SCHEMA,
)
BUILT_IN_KINDS = [
    ("", "ConfigMap"),
    ("", "Event"),
    ("", "Namespace"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("authentication.k8s.io", "SelfSubjectReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
    ("coordination.k8s.io", "Lease"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("events.k8s.io", "Event"),
]


def builtin(group: str, kind: str) -> Resource:
    plural = f"{kind.lower()}s"
    return Resource(group, "v1", plural, kind.lower(), kind, f"{kind}List", kind not in ("Namespace",))


EVERYTHING = [CRON, *(builtin(group, kind) for group, kind in BUILT_IN_KINDS)]


def document(group_version: str, resources: list[Resource] = EVERYTHING) -> dict[str, Any]:
    found = v3_document(group_version, resources)
    assert found is not None
    return found


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def kinds_of(components: dict[str, Any]) -> dict[str, str]:
    return {
        gvk["kind"]: name
        for name, each in components.items()
        for gvk in each.get("x-kubernetes-group-version-kind", ())
    }


def test_the_index_names_every_group_version_once() -> None:
    paths = v3_index(EVERYTHING)["paths"]
    assert "api/v1" in paths
    assert "apis/stable.example.com/v1" in paths
    assert len(paths) == len({resource.api_version for resource in EVERYTHING})
    url = paths["api/v1"]["serverRelativeURL"]
    assert url.startswith("/openapi/v3/api/v1?hash=")


def test_a_hash_changes_with_the_document_and_only_then() -> None:
    before = v3_index(EVERYTHING)["paths"]
    longer = {**CRON_SCHEMA, "description": "Changed."}
    changed = [dataclasses.replace(CRON, schema=longer), *EVERYTHING[1:]]
    after = v3_index(changed)["paths"]
    assert {path for path in before if before[path] != after[path]} == {"apis/stable.example.com/v1"}
    assert v3_index(list(reversed(EVERYTHING)))["paths"] == before


def test_a_group_version_that_nothing_has_has_no_document() -> None:
    assert v3_document("stable.example.com/v2", EVERYTHING) is None


@pytest.mark.parametrize("group_version", sorted({resource.api_version for resource in EVERYTHING}))
def test_every_reference_leads_to_a_component_and_every_operation_has_one_name(group_version: str) -> None:
    made = document(group_version)
    names = {f"#/components/schemas/{name}" for name in made["components"]["schemas"]}
    assert set(references(made)) <= names
    identifiers = [
        operation["operationId"]
        for item in made["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
    ]
    assert len(identifiers) == len(set(identifiers))


def test_a_custom_kind_is_published_with_its_own_fields_and_the_shared_metadata() -> None:
    components = document("stable.example.com/v1")["components"]["schemas"]
    kind = components["com.example.stable.v1.CronTab"]
    assert kind["x-kubernetes-group-version-kind"] == [
        {"group": "stable.example.com", "kind": "CronTab", "version": "v1"}
    ]
    assert kind["required"] == ["spec"]
    assert kind["properties"]["spec"] == CRON_SCHEMA["properties"]["spec"]  # type: ignore[index]  # a plain dict
    assert kind["properties"]["metadata"]["description"] == "Whose it is."
    (metadata,) = kind["properties"]["metadata"]["allOf"]
    assert metadata["$ref"].endswith(".meta.v1.ObjectMeta")
    items = components["com.example.stable.v1.CronTabList"]["properties"]["items"]["items"]
    assert items == {"$ref": "#/components/schemas/com.example.stable.v1.CronTab"}


def test_patch_and_create_say_that_they_take_field_validation_and_dry_run() -> None:
    paths = document("stable.example.com/v1")["paths"]
    collection = paths["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs"]
    item = paths["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}"]
    for operation in (collection["post"], item["patch"], item["put"]):
        names = {parameter["name"] for parameter in operation["parameters"]}
        assert {"fieldValidation", "dryRun", "fieldManager"} <= names
        assert operation["x-kubernetes-group-version-kind"]["kind"] == "CronTab"
    assert [parameter["name"] for parameter in item["parameters"]] == ["name", "namespace"]
    assert "application/apply-patch+yaml" in item["patch"]["requestBody"]["content"]
    assert "application/strategic-merge-patch+json" not in item["patch"]["requestBody"]["content"]


def test_only_served_verbs_and_subresources_have_paths() -> None:
    review = dataclasses.replace(builtin("authorization.k8s.io", "SelfSubjectAccessReview"), verbs=("create",))
    made = document("authorization.k8s.io/v1", [dataclasses.replace(review, namespaced=False)])
    (path,) = made["paths"]
    assert path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert set(made["paths"][path]) == {"post", "parameters"}
    assert "SelfSubjectAccessReviewList" not in kinds_of(made["components"]["schemas"])
    assert any(path.endswith("/status") for path in document("stable.example.com/v1")["paths"])
    assert not any(path.endswith("/status") for path in document("coordination.k8s.io/v1")["paths"])


def test_cluster_scoped_kinds_have_no_namespace_in_their_path() -> None:
    paths = document("v1", [builtin("", "Namespace")])["paths"]
    assert sorted(paths) == ["/api/v1/namespaces", "/api/v1/namespaces/{name}"]


def test_lists_of_built_in_kinds_say_how_strategic_patches_merge_them() -> None:
    service = builtin_schema("", "v1", "Service")
    assert service is not None
    ports = service["properties"]["spec"]["properties"]["ports"]
    assert (ports["x-kubernetes-patch-strategy"], ports["x-kubernetes-patch-merge-key"]) == ("merge", "port")


@pytest.mark.parametrize(("group", "kind"), BUILT_IN_KINDS)
def test_a_built_in_kind_is_described_to_the_last_field(group: str, kind: str) -> None:
    schema = builtin_schema(group, "v1", kind)
    assert schema is not None
    StructuralSchema.parse(schema)
    assert list(undescribed(schema, kind)) == []


def undescribed(schema: Any, path: str) -> Iterator[str]:
    for name, field in schema.get("properties", {}).items():
        if name != "metadata" and "description" not in field:
            yield f"{path}.{name}"
        yield from undescribed(field, f"{path}.{name}")
    if isinstance(schema.get("items"), dict):
        yield from undescribed(schema["items"], f"{path}[]")


def test_an_unknown_kind_has_no_schema_and_is_published_as_any_content() -> None:
    assert builtin_schema("", "v1", "Pod") is None
    assert builtin_schema("nobody.example.com", "v1", "Thing") is None
    thing = Resource("nobody.example.com", "v1", "things", "thing", "Thing", "ThingList", True, custom=True)
    components = document("nobody.example.com/v1", [thing])["components"]["schemas"]
    assert components["com.example.nobody.v1.Thing"]["x-kubernetes-preserve-unknown-fields"] is True


def test_version_2_holds_every_kind_in_one_document_with_its_own_references() -> None:
    made = v2_document(EVERYTHING)
    assert made["swagger"] == "2.0"
    names = {f"#/definitions/{name}" for name in made["definitions"]}
    assert set(references(made)) <= names
    kinds = {
        (gvk["group"], gvk["kind"])
        for each in made["definitions"].values()
        for gvk in each.get("x-kubernetes-group-version-kind", ())
    }
    assert {(resource.group, resource.kind) for resource in EVERYTHING} <= kinds
    post = made["paths"]["/api/v1/namespaces/{namespace}/secrets"]["post"]
    assert post["parameters"][0]["in"] == "body"
    assert post["responses"]["201"]["schema"] == {"$ref": "#/definitions/io.k8s.api.core.v1.Secret"}


def test_version_2_leaves_out_what_it_cannot_say() -> None:
    spec = v2_document([CRON])["definitions"]["com.example.stable.v1.CronTab"]["properties"]["spec"]
    assert spec["properties"]["schedule"] == {}
    assert spec["properties"]["port"] == {"x-kubernetes-int-or-string": True}
    assert spec["properties"]["rules"]["items"] == {"type": "object"}
    assert "x-kubernetes-validations" not in spec


def wire(body: int | bytes) -> dict[int, list[int | bytes]]:
    """The fields of a message by number."""
    assert isinstance(body, bytes)
    found: dict[int, list[int | bytes]] = {}
    for number, value in fields(body):
        found.setdefault(number, []).append(value)
    return found


def named(entries: list[int | bytes]) -> dict[str, int | bytes]:
    """A protobuf map of gnostic's: pairs of name (1) and value (2)."""
    pairs = [wire(entry) for entry in entries]
    return {bytes(pair[1][0]).decode(): pair[2][0] for pair in pairs if isinstance(pair[1][0], bytes)}


def test_version_2_in_protobuf_holds_the_same_definitions_and_paths() -> None:
    made = v2_document(EVERYTHING)
    document = wire(v2_protobuf(made))
    assert document[1] == [b"2.0"]
    assert set(named(wire(document[8][0])[2])) == set(made["paths"])
    definitions = named(wire(document[9][0])[1])
    assert set(definitions) == set(made["definitions"])
    crontab = wire(definitions["com.example.stable.v1.CronTab"])
    assert crontab[4] == [b"A job on a schedule."]
    assert crontab[19] == [b"spec"]
    assert wire(crontab[22][0])[1] == [b"object"]
    properties = named(wire(crontab[25][0])[1])
    assert set(properties) == {"apiVersion", "kind", "metadata", "spec"}
    assert wire(properties["metadata"])[1] == [b"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
    kinds = wire(named(crontab[31])["x-kubernetes-group-version-kind"])
    assert kinds[2] == [b'[{"group":"stable.example.com","kind":"CronTab","version":"v1"}]']


def test_version_2_in_protobuf_carries_every_schema_word() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": -1.5, "maximum": 3, "exclusiveMaximum": True, "multipleOf": 0.5},
            "s": {"type": "string", "minLength": 1, "maxLength": 300, "pattern": "^a", "enum": ["a", 1]},
            "m": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2},
            "o": {"type": "object", "additionalProperties": True},
            "l": {"type": "array", "items": {"type": "string"}, "maxItems": 5, "uniqueItems": True},
        },
    }
    document = wire(v2_protobuf(v2_document([dataclasses.replace(CRON, schema=schema)])))
    crontab = wire(named(wire(document[9][0])[1])["com.example.stable.v1.CronTab"])
    properties = {name: wire(each) for name, each in named(wire(crontab[25][0])[1]).items()}
    assert properties["n"][9] + properties["n"][7] == [struct.pack("<d", -1.5), struct.pack("<d", 3.0)]
    assert properties["n"][8] == [1]
    assert (properties["s"][11], properties["s"][12], properties["s"][13]) == ([300], [1], [b"^a"])
    assert [wire(value)[2] for value in properties["s"][20]] == [[b'"a"'], [b"1"]]
    assert wire(wire(wire(properties["m"][21][0])[1][0])[22][0])[1] == [b"string"]
    assert wire(properties["o"][21][0]) == {2: [1]}
    assert (properties["l"][14], properties["l"][16]) == ([5], [1])
    assert wire(wire(wire(properties["l"][23][0])[1][0])[22][0])[1] == [b"string"]
