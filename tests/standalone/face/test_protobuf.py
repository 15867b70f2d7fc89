"""Protobuf request bodies against what the public Go marshallers of the same API make of the same objects."""

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standalone.protobuf.envelope import decode

# Written with the generated marshallers of k8s.io/api v0.34.1: "full" objects have every field of every message set.
VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "protobuf_vectors.json").read_text())
FULL = [vector for vector in VECTORS if vector["name"].endswith(" full")]
SPARSE = {
    "Namespace small": {"metadata": {"name": "small"}},
    "Secret with empty values": {
        "metadata": {"name": "s", "namespace": "n"},
        "data": {"empty": "", "k": "AP8="},
        "immutable": False,
    },
    "ConfigMap with empty value": {"metadata": {"name": "c", "labels": {"": ""}}, "data": {"empty": ""}},
    "Lease released": {"spec": {"holderIdentity": ""}},
    "DeleteOptions now": {"gracePeriodSeconds": 0, "orphanDependents": False},
    "SelfSubjectAccessReview of everything": {"spec": {"resourceAttributes": {}}},
    "Service with negative port": {"spec": {"ports": [{"port": -1}]}},
}


def body_of(name: str) -> bytes:
    return base64.b64decode(next(vector["body"] for vector in VECTORS if vector["name"] == name))


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def envelope(api_version: str, kind: str, raw: bytes, encoding: str = "") -> bytes:
    type_meta = field(1, api_version.encode()) + field(2, kind.encode())
    return b"k8s\x00" + field(1, type_meta) + field(2, raw) + field(3, encoding.encode())


@pytest.mark.parametrize("vector", FULL, ids=lambda vector: vector["name"])
def test_every_field_of_a_kind_is_read(vector: dict[str, Any]) -> None:
    expected = dict(vector["json"])
    if expected["kind"].endswith("Review"):
        expected.pop("status", None)
    assert decode(base64.b64decode(vector["body"])) == expected


@pytest.mark.parametrize("name", SPARSE)
def test_what_the_client_left_unset_is_absent_and_what_it_set_to_zero_is_kept(name: str) -> None:
    decoded = decode(body_of(name))
    assert {key: value for key, value in decoded.items() if key not in ("apiVersion", "kind")} == SPARSE[name]


def test_delete_options_come_in_any_group_version() -> None:
    assert decode(body_of("DeleteOptions now"))["apiVersion"] == "coordination.k8s.io/v1"


def test_fields_newer_than_ours_are_skipped() -> None:
    raw = field(1, field(1, b"n")) + field(99, b"later") + varint(98 << 3) + varint(7) + varint(97 << 3 | 5) + b"abcd"
    assert decode(envelope("v1", "Namespace", raw)) == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "n"},
    }


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b'{"kind":"Namespace"}', "start with b'k8s\\x00', found b'{\"ki'"),
        (b"", "found b''"),
        (envelope("v1", "Pod", b""), "no decoder for v1, kind 'Pod'; send it as application/json"),
        (envelope("v1", "Secret", b"", "gzip"), "content encoding 'gzip' is not supported"),
        (envelope("v1", "Secret", b"\x0a\x05ab"), "Secret: field 1: 5 bytes announced, 2 left"),
        (envelope("v1", "Secret", field(3, b"\xff")), "Secret: type: expected UTF-8 text"),
        (envelope("v1", "Secret", b"\x08\x01"), "Secret: metadata: expected bytes, found the number 1"),
        (envelope("v1", "Secret", field(5, b"")), "Secret: immutable: expected a number, found 0 bytes"),
        (envelope("v1", "Secret", b"\x0b"), "field 1: wire type 3 is not supported"),
        (envelope("v1", "Secret", b"\x08" + b"\xff" * 11), "longer than 10 bytes"),
        (envelope("v1", "Secret", b"\x08\xff"), "ends inside a number"),
        (envelope("v1", "Secret", b"\x00\x00"), "field number 0"),
        (envelope("v1", "Event", field(6, b"\x08" + varint(1 << 62))), "outside the years 1 to 9999"),
        (envelope("v1", "Secret", field(1, field(17, field(7, field(1, b"{"))))), "fieldsV1: expected JSON"),
    ],
)
def test_a_damaged_body_is_refused_with_what_was_found(body: bytes, complaint: str) -> None:
    with pytest.raises(ValueError, match="protobuf body") as refusal:
        decode(body)
    assert complaint in str(refusal.value)


@given(st.sampled_from(FULL), st.data())
def test_damage_anywhere_ends_in_an_object_or_a_refusal_and_nothing_else(
    vector: dict[str, Any], data: st.DataObject
) -> None:
    body = bytearray(base64.b64decode(vector["body"]))
    position = data.draw(st.integers(0, len(body) - 1))
    body[position] = data.draw(st.integers(0, 255))
    damaged = bytes(body[: data.draw(st.integers(position, len(body)))])
    with contextlib.suppress(ValueError):
        json.dumps(decode(damaged))


@given(st.dictionaries(st.text(min_size=1), st.binary()), st.dictionaries(st.text(), st.text()))
def test_maps_keep_every_pair(values: dict[str, bytes], labels: dict[str, str]) -> None:
    raw = b"".join(field(2, field(1, key.encode()) + field(2, value)) for key, value in values.items())
    meta = b"".join(field(11, field(1, key.encode()) + field(2, value.encode())) for key, value in labels.items())
    decoded = decode(envelope("v1", "Secret", field(1, meta) + raw))
    assert {key: base64.b64decode(value) for key, value in decoded.get("data", {}).items()} == values
    assert decoded.get("metadata", {}).get("labels", {}) == labels
