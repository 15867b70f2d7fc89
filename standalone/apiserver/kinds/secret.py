"""Secrets and ConfigMaps (v1): their keys, their immutability, and the plain-text way of writing a Secret.

Owns what is special about both. Never logs or shows what they hold.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from standalone.apiserver.kinds.kind import Kind, Writing
from standalone.schema.fault import Fault, FaultKind, duplicate, forbidden, invalid, required

DEFAULT_TYPE = "Opaque"
LIMIT_BYTES = 1024 * 1024
_OF_TYPE: Mapping[Any, tuple[str, ...]] = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
}
"""What a Secret of a type has to hold."""
_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)


def _prepare_secret(writing: Writing) -> None:
    """Merge `stringData` into `data`, of which it is the plain-text form."""
    obj = writing.obj
    obj.setdefault("type", DEFAULT_TYPE)
    plain = obj.pop("stringData", None)
    if isinstance(plain, dict):
        encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}
    for name in ("data", "immutable"):
        if obj.get(name) in ({}, None):
            obj.pop(name, None)


def _judge_secret(writing: Writing) -> list[Fault]:
    obj, old = writing.obj, writing.old
    faults = [*_judge_keys(obj.get("data"), "data"), *_judge_base64(obj.get("data"), "data")]
    wanted = _OF_TYPE.get(obj.get("type"), ())
    faults += [required(f"data[{key}]") for key in wanted if key not in (obj.get("data") or {})]
    if old is not None and obj.get("type") != old.get("type"):
        faults.append(invalid("type", obj.get("type"), "field is immutable"))
    return [*faults, *_judge_immutable(writing, ("data",))]


def _prepare_config_map(writing: Writing) -> None:
    for name in ("data", "binaryData"):
        if not writing.obj.get(name):
            writing.obj.pop(name, None)


def _judge_config_map(writing: Writing) -> list[Fault]:
    data, binary = writing.obj.get("data") or {}, writing.obj.get("binaryData") or {}
    faults = [*_judge_keys(data, "data"), *_judge_keys(binary, "binaryData"), *_judge_base64(binary, "binaryData")]
    faults += [duplicate(f"data[{key}]", key) for key in sorted(data.keys() & binary.keys())]
    return [*faults, *_judge_immutable(writing, ("data", "binaryData"))]


def _judge_keys(data: Mapping[str, Any] | None, field: str) -> Iterator[Fault]:
    size = 0
    for key, value in (data or {}).items():
        size += len(value) if isinstance(value, str) else 0
        if not _KEY.fullmatch(key):
            yield invalid(f"{field}[{key}]", key, _KEY_RULE)
    if size > LIMIT_BYTES:
        yield Fault(FaultKind.TOO_LONG, field, "", f"may not be more than {LIMIT_BYTES} bytes")


def _judge_base64(data: Mapping[str, Any] | None, field: str) -> Iterator[Fault]:
    for key, value in (data or {}).items():
        try:
            base64.b64decode(value or "", validate=True)
        except (binascii.Error, TypeError, ValueError):
            yield invalid(f"{field}[{key}]", "<value omitted>", "must be base64")


def _judge_immutable(writing: Writing, fields: tuple[str, ...]) -> Iterator[Fault]:
    """A frozen object keeps its content, and stays frozen."""
    old = writing.old
    if old is None or not old.get("immutable"):
        return
    if not writing.obj.get("immutable"):
        yield forbidden("immutable", "field is immutable when `immutable` is set")
    for field in fields:
        if writing.obj.get(field) != old.get(field):
            yield forbidden(field, "field is immutable when `immutable` is set")


SECRET = Kind(prepare=_prepare_secret, judge=_judge_secret)
CONFIG_MAP = Kind(prepare=_prepare_config_map, judge=_judge_config_map)
