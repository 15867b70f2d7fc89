"""Conversion APIs as this process answers them: questions are created, answered at once and kept nowhere.

Owns how a question is judged, and the documents by which an API server learns what is served. Knows no transport.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from controllers.api.endpoint_conversion import (
    CONVERSION_PLURAL,
    ConversionAnswer,
    ConversionOutput,
    ConversionResult,
    ConversionSpec,
    ConversionStatus,
    EndpointConversion,
    Unconvertible,
)
from controllers.api.schema import structural_schema

VERBS: Final = ("create",)


@dataclass(frozen=True, slots=True)
class QuestionFault:
    """One refused field of a question."""

    field: str
    message: str


class QuestionError(ValueError):
    """A question that cannot be answered: it has not the shape of one. `faults` are all that is wrong with it."""

    def __init__(self, faults: Iterable[QuestionFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{each.field}: {each.message}" for each in self.faults))


@dataclass(frozen=True, slots=True)
class ConversionApi:
    """The API of one provider version."""

    conversion: EndpointConversion

    @property
    def group(self) -> str:
        return self.conversion.resource.group

    @property
    def version(self) -> str:
        return self.conversion.resource.version

    @property
    def api_version(self) -> str:
        return self.conversion.resource.api_version

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the question with its status. Raises QuestionError."""
        spec = self._parse(question)
        outcome = self.conversion.convert(spec.input)
        if isinstance(outcome, Unconvertible):
            result = ConversionResult(
                status=ConversionStatus.FAILURE, reason=outcome.reason, message=outcome.message[:2048]
            )
            status = ConversionAnswer(uid=spec.uid, result=result)
        else:
            result = ConversionResult(status=ConversionStatus.SUCCESS)
            status = ConversionAnswer(uid=spec.uid, result=result, output=ConversionOutput(fragments=outcome))
        metadata = {**(question.get("metadata") or {}), "creationTimestamp": _now()}
        metadata.pop("managedFields", None)
        return {
            "apiVersion": self.api_version,
            "kind": self.conversion.resource.kind,
            "metadata": metadata,
            "spec": spec.dump(),
            "status": status.dump(),
        }

    def _parse(self, question: Mapping[str, Any]) -> ConversionSpec:
        ref = self.conversion.resource
        faults = [
            QuestionFault(field, f"found {question.get(field)!r}, allowed: {wanted}")
            for field, wanted in (("apiVersion", ref.api_version), ("kind", ref.kind))
            if question.get(field) != wanted
        ]
        if faults:
            raise QuestionError(faults)
        try:
            return ConversionSpec.model_validate(question.get("spec"))
        except ValidationError as error:
            raise QuestionError(
                QuestionFault(".".join(("spec", *map(str, each["loc"]))), each["msg"])
                for each in error.errors(include_url=False)
            ) from error

    def schema(self) -> dict[str, Any]:
        """Return the schema of a question and its answer."""
        return {
            "type": "object",
            "description": "Question what records an endpoint becomes; answered when it is created, kept nowhere.",
            "required": ["spec"],
            "properties": {
                "apiVersion": {"type": "string", "description": "Group and version of the object."},
                "kind": {"type": "string", "description": "Kind of the object."},
                "metadata": {"type": "object"},
                "spec": structural_schema(ConversionSpec, strict=True),
                "status": structural_schema(ConversionAnswer, strict=True),
            },
        }

    def api_group(self) -> dict[str, Any]:
        """Return the APIGroup document."""
        version = {"groupVersion": self.api_version, "version": self.version}
        return {
            "kind": "APIGroup",
            "apiVersion": "v1",
            "name": self.group,
            "versions": [version],
            "preferredVersion": version,
        }

    def resource_list(self) -> dict[str, Any]:
        """Return the APIResourceList document."""
        resource = {
            "name": CONVERSION_PLURAL,
            "singularName": self.conversion.resource.kind.lower(),
            "namespaced": False,
            "kind": self.conversion.resource.kind,
            "verbs": list(VERBS),
        }
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": self.api_version,
            "resources": [resource],
        }

    def aggregated_group(self) -> dict[str, Any]:
        """Return the APIGroupDiscovery document (apidiscovery.k8s.io/v2)."""
        ref = self.conversion.resource
        resource = {
            "resource": CONVERSION_PLURAL,
            "responseKind": {"group": ref.group, "version": ref.version, "kind": ref.kind},
            "scope": "Cluster",
            "singularResource": ref.kind.lower(),
            "verbs": list(VERBS),
        }
        version = {"version": ref.version, "resources": [resource], "freshness": "Current"}
        return {"metadata": {"name": ref.group}, "versions": [version]}


def group_list(apis: Iterable[ConversionApi]) -> dict[str, Any]:
    """Return the APIGroupList document of `/apis`."""
    groups = [
        {name: value for name, value in each.api_group().items() if name not in {"kind", "apiVersion"}} for each in apis
    ]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def aggregated_list(apis: Iterable[ConversionApi]) -> dict[str, Any]:
    """Return the APIGroupDiscoveryList document of `/apis`."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [each.aggregated_group() for each in apis],
    }


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
