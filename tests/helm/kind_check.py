"""What is wrong with rendered objects, by the types of the Kubernetes API and by our own definitions.

Kinds of cert-manager and of the Prometheus operator are checked against the few fields that the chart may use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped] # the library has no types of its own
from kubernetes.client import models
from pydantic import ValidationError

from controllers.manifests import definitions
from standalone.schema.structural import StructuralSchema

_TEXT: Final = {"type": "string", "minLength": 1}
_REFERENCE: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["kind", "name"],
    "properties": {"kind": {"enum": ["Issuer", "ClusterIssuer"]}, "name": _TEXT},
}
_LABELS: Final = {"type": "object", "additionalProperties": {"type": "string"}}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


_RULE: Final = _object(
    ["alert", "expr", "annotations"], alert=_TEXT, expr=_TEXT, labels=_LABELS, annotations=_LABELS, **{"for": _TEXT}
)
_FOREIGN: Final = {
    "Issuer": _object([], selfSigned=_object([]), ca=_object(["secretName"], secretName=_TEXT)),
    "Certificate": _object(
        ["secretName", "issuerRef", "privateKey"],
        isCA={"type": "boolean"},
        commonName=_TEXT,
        duration={"type": "string", "pattern": "^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"},
        dnsNames={"type": "array", "items": _TEXT, "minItems": 1},
        privateKey=_object(
            ["algorithm", "size"],
            algorithm={"enum": ["ECDSA", "RSA", "Ed25519"]},
            size={"type": "integer"},
            rotationPolicy={"enum": ["Always", "Never"]},
        ),
        secretName=_TEXT,
        issuerRef=_REFERENCE,
    ),
    "ServiceMonitor": _object(
        ["selector", "endpoints"],
        selector=_object(["matchLabels"], matchLabels=_LABELS),
        endpoints={"type": "array", "items": _object(["port"], port=_TEXT, path=_TEXT, interval=_TEXT)},
    ),
    "PrometheusRule": _object(
        ["groups"],
        groups={
            "type": "array",
            "items": _object(["name", "rules"], name=_TEXT, rules={"type": "array", "items": _RULE}),
        },
    ),
}
FOREIGN_GROUPS: Final = ("cert-manager.io", "monitoring.coreos.com")
_OURS: Final = {
    (definition["spec"]["group"], definition["spec"]["names"]["kind"]): StructuralSchema.parse(
        definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    )
    for definition in definitions()
}


def faults(manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with one object."""
    group, _, _ = manifest["apiVersion"].rpartition("/")
    kind = manifest["kind"]
    if group in FOREIGN_GROUPS:
        validator = jsonschema.Draft7Validator(_FOREIGN[kind])
        yield from (f"spec: {each.message}" for each in validator.iter_errors(manifest["spec"]))
        yield from _faults_of_type(models.V1ObjectMeta, manifest["metadata"])
    elif (schema := _OURS.get((group, kind))) is not None:
        yield from (str(each) for each in schema.validate(manifest))
    else:
        yield from _faults_of_type(_type_of(kind), manifest)


def _type_of(kind: str) -> Any:
    return getattr(models, f"V1{kind}", None) or getattr(models, f"CoreV1{kind}")


def _faults_of_type(model: Any, value: dict[str, Any]) -> Iterator[str]:
    try:
        model.model_validate(value, by_name=False, by_alias=True)
    except ValidationError as error:
        yield from (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False))
