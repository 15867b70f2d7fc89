"""What an API holds against an object that is to be written: its metadata, its content under the schema, and admission.

Owns how these are told together, as `field: what is wrong`. Never merges and never stores.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from controllers.core.admission.handler import Hook
from controllers.core.admission.review import API_VERSION, KIND, Operation
from controllers.manifests import definitions
from kube.resource import ResourceRef
from standalone.apiserver.metadata.rule import judge_create, judge_update
from standalone.apiserver.target import Target
from standalone.fields.builtin import shape_for
from standalone.fields.declared import undeclared
from standalone.resource import Resource
from standalone.schema.structural import StructuralSchema

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judge:
    """What an API holds against the objects of a kind before it asks admission; without `schema` any content will do."""

    target: Target
    schema: StructuralSchema | None

    @classmethod
    def of(cls, ref: ResourceRef) -> Judge:
        """Return the judge of a kind, with the schema of its definition if it is one of ours."""
        name = f"{ref.plural}.{ref.group}"
        schemas = [
            StructuralSchema.parse(each["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
            for each in definitions()
            if each["metadata"]["name"] == name
        ]
        resource = Resource(
            ref.group, ref.version, ref.plural, ref.kind.lower(), ref.kind, f"{ref.kind}List", ref.namespaced
        )
        return cls(Target(resource), schemas[0] if schemas else None)

    def undeclared(self, applied: Manifest) -> list[str]:
        """Return what the schema does not have, or has with another type."""
        return [fault.removeprefix(".") for fault in undeclared(shape_for(self.schema, applied), applied)]

    def shape(self, obj: Manifest, live: Manifest | None) -> list[str]:
        """Bring an object into shape; return the fields that the schema does not have."""
        if self.schema is None:
            return []
        unknown = self.schema.prune(obj, live)
        self.schema.default(obj, live)
        return [f"{path}: unknown field" for path in unknown]

    def faults(self, obj: Manifest, live: Manifest | None) -> list[str]:
        """Return what is wrong with an object's metadata and with its content under the schema."""
        metadata = obj["metadata"]
        target = self.target
        found = judge_create(target, metadata) if live is None else judge_update(target, metadata, live["metadata"])
        found += self.schema.validate(obj, live) if self.schema is not None else []
        return [fault.message for fault in found]


async def admission_faults(hook: Hook | None, obj: Manifest, live: Manifest | None) -> list[str]:
    """Return the faults that admission finds; without a hook there are none."""
    if hook is None:
        return []
    operation = Operation.CREATE if live is None else Operation.UPDATE
    metadata, ref = obj["metadata"], hook.resource
    request = {
        "uid": str(uuid.uuid4()),
        "kind": {"group": ref.group, "version": ref.version, "kind": ref.kind},
        "operation": operation.value,
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "object": obj,
        "oldObject": live,
        "dryRun": True,
    }
    response = (await hook.handler({"apiVersion": API_VERSION, "kind": KIND, "request": request}))["response"]
    if response["allowed"]:
        return []
    causes = response["status"].get("details", {}).get("causes", ())
    return [f"{each['field']}: {each['message']}" for each in causes] or [response["status"]["message"]]


def joined(first: Iterable[str], further: Iterable[str]) -> list[str]:
    """Return faults of two judges; a field that the first one tells about is not told again."""
    told = list(dict.fromkeys(first))
    fields = {fault.partition(": ")[0] for fault in told}
    return told + [fault for fault in dict.fromkeys(further) if fault.partition(": ")[0] not in fields]
