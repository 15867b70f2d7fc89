"""The envelope around every Kubernetes protobuf object: a magic number, the type, and the object's own bytes.

Owns the choice of the description by apiVersion and kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from standalone.protobuf import core_v1, group_v1
from standalone.protobuf.message import Description, Field, message, read, string
from standalone.protobuf.meta_v1 import DELETE_OPTIONS

MAGIC = b"k8s\x00"

_TYPE_META = {1: Field("apiVersion", string), 2: Field("kind", string)}
_TYPE, _RAW, _ENCODING, _CONTENT_TYPE = "typeMeta", "raw", "contentEncoding", "contentType"


def _raw(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError(f"expected bytes, found the number {value}")
    return value


_UNKNOWN: Description = {
    1: Field(_TYPE, message(_TYPE_META)),
    2: Field(_RAW, _raw, optional=True),
    3: Field(_ENCODING, string),
    4: Field(_CONTENT_TYPE, string),
}

_KINDS: Mapping[tuple[str, str], Description] = {
    ("v1", "ConfigMap"): core_v1.CONFIG_MAP,
    ("v1", "Event"): core_v1.EVENT,
    ("v1", "Namespace"): core_v1.NAMESPACE,
    ("v1", "Secret"): core_v1.SECRET,
    ("v1", "Service"): core_v1.SERVICE,
    ("v1", "ServiceAccount"): core_v1.SERVICE_ACCOUNT,
    ("authentication.k8s.io/v1", "SelfSubjectReview"): group_v1.SELF_SUBJECT_REVIEW,
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"): group_v1.SELF_SUBJECT_ACCESS_REVIEW,
    ("authorization.k8s.io/v1", "SelfSubjectRulesReview"): group_v1.SELF_SUBJECT_RULES_REVIEW,
    ("coordination.k8s.io/v1", "Lease"): group_v1.LEASE,
    ("discovery.k8s.io/v1", "EndpointSlice"): group_v1.ENDPOINT_SLICE,
    ("events.k8s.io/v1", "Event"): group_v1.EVENT,
}


def decode(body: bytes) -> dict[str, Any]:
    """The JSON-shaped object in a request body, with apiVersion and kind as the envelope names them.

    Raises ValueError when the body is no such envelope, names a kind that has no description here, or is damaged; the
    text says what was found.
    """
    if not body.startswith(MAGIC):
        raise ValueError(f"protobuf body: expected it to start with {MAGIC!r}, found {body[: len(MAGIC)]!r}")
    envelope = _read("envelope", _UNKNOWN, body[len(MAGIC) :])
    type_meta = envelope.get(_TYPE, {})
    api_version, kind = type_meta.get("apiVersion", ""), type_meta.get("kind", "")
    if encoding := envelope.get(_ENCODING):
        raise ValueError(f"protobuf body: content encoding {encoding!r} is not supported")
    # DeleteOptions belong to every group version: clients name the one of the object that is to go.
    description = DELETE_OPTIONS if kind == "DeleteOptions" else _KINDS.get((api_version, kind))
    if description is None:
        raise ValueError(f"protobuf body: no decoder for {api_version}, kind {kind!r}; send it as application/json")
    return {"apiVersion": api_version, "kind": kind, **_read(kind, description, envelope.get(_RAW, b""))}


def _read(what: str, description: Description, body: bytes) -> dict[str, Any]:
    try:
        return read(description, body)
    except ValueError as fault:
        raise ValueError(f"protobuf body: {what}: {fault}") from None
