"""Request bodies: JSON, YAML and, for the built-in kinds, Kubernetes' protobuf.

Owns decoding and its refusals. Never looks inside an object.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
import yaml

from standalone.apiserver.alias import object_to_aliases
from standalone.apiserver.plain import YamlLoader, json_value, whole_numbers
from standalone.apiserver.status import bad_request, unsupported_media_type
from standalone.protobuf.envelope import decode
from standalone.resource import Resource

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_FRACTION = re.compile(rb"[:\[,]\s*-?\d+(?:\.\d|[eE])")
NO_TYPE = "application/octet-stream"
"""What aiohttp says for a request that names no media type."""


def decode_json(content: bytes) -> Any:
    """Raises ApiError 400."""
    try:
        decoded = orjson.loads(content)
    except ValueError as error:
        raise bad_request(f"the body of the request is not valid JSON: {error}") from error
    return whole_numbers(decoded) if _FRACTION.search(content) else decoded


def decode_yaml(content: bytes) -> Any:
    """Raises ApiError 400."""
    try:
        objection = object_to_aliases(content)
        if objection is None:
            return json_value(yaml.load(content, Loader=YamlLoader))
    except (yaml.YAMLError, ValueError) as error:
        raise bad_request(f"the body of the request is not valid YAML: {error}") from error
    raise bad_request(f"the body of the request is refused: {objection}")


def decode_object(content: bytes, media_type: str, resource: Resource | None) -> dict[str, Any]:
    """Decode the object of a create or update. Raises ApiError 400 and 415."""
    if media_type in (JSON, NO_TYPE):
        decoded = decode_json(content)
    elif media_type == YAML:
        decoded = decode_yaml(content)
    elif media_type == PROTOBUF and not (resource is not None and resource.custom):
        decoded = _decode_protobuf(content)
    else:
        raise unsupported_media_type([JSON, YAML] if resource and resource.custom else [JSON, YAML, PROTOBUF])
    if not isinstance(decoded, dict):
        raise bad_request("the body of the request must be one object")
    return decoded


def _decode_protobuf(content: bytes) -> dict[str, Any]:
    try:
        return decode(content)
    except ValueError as error:
        raise bad_request(f"the body of the request is not valid protobuf: {error}") from error
