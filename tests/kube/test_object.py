from __future__ import annotations

from typing import Any

import pytest

from kube.object import ObjectKey, ObjectMeta, ObjectReference
from kube.resource import ResourceRef

MANIFEST: dict[str, Any] = {
    "metadata": {
        "name": "www",
        "namespace": "team-a",
        "uid": "u1",
        "resourceVersion": "7",
        "generation": 3,
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
        "finalizers": ["x.io/f", "x.io/g"],
        "deletionTimestamp": "2024-01-01T00:00:00Z",
        "creationTimestamp": "2023-01-01T00:00:00Z",
        "ownerReferences": [{"uid": "o1", "name": "n"}, {"uid": "o2", "name": "m"}],
    }
}


def test_metadata_is_parsed_whole() -> None:
    meta = ObjectMeta.parse(MANIFEST)
    assert meta == ObjectMeta(
        name="www",
        namespace="team-a",
        uid="u1",
        resource_version="7",
        generation=3,
        labels={"a": "b"},
        annotations={"c": "d"},
        finalizers=("x.io/f", "x.io/g"),
        deletion_timestamp="2024-01-01T00:00:00Z",
        creation_timestamp="2023-01-01T00:00:00Z",
        owner_uids=("o1", "o2"),
    )
    assert meta.deleting
    assert meta.key == ObjectKey("team-a", "www") == ObjectKey.parse(MANIFEST)
    assert isinstance(hash(meta), int)


def test_absent_metadata_fields_are_zero_values() -> None:
    meta = ObjectMeta.parse({"metadata": {"name": "p"}})
    assert meta == ObjectMeta(name="p")
    assert not meta.deleting
    assert dict(meta.labels) == {}


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({}, "metadata: found NoneType"),
        ({"metadata": []}, "metadata: found list"),
        ({"metadata": {}}, "metadata.name: found None"),
        ({"metadata": {"name": ""}}, "metadata.name: found ''"),
    ],
)
def test_what_has_no_name_is_refused(manifest: dict[str, Any], message: str) -> None:
    for parse in (ObjectMeta.parse, ObjectKey.parse):
        with pytest.raises(ValueError, match=message):
            parse(manifest)


def test_keys_read_as_kubectl_prints_them() -> None:
    assert str(ObjectKey("team-a", "www")) == "team-a/www"
    assert str(ObjectKey("", "route53")) == "route53"


def test_reference_leaves_out_what_is_empty() -> None:
    ref = ResourceRef("x.io", "v1", "things", "Thing", namespaced=False)
    reference = ObjectReference.of(ref, ObjectMeta(name="p", uid="u"))
    assert reference.dump() == {"apiVersion": "x.io/v1", "kind": "Thing", "name": "p", "uid": "u"}
