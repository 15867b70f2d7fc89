"""How objects name one another, and the label selectors that grant access across namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from kube.object import ObjectKey
from zonemodel.model import Model


class ProviderRef(Model):
    """A Provider and one of its served versions."""

    name: Annotated[str, Field(description="Name of the Provider, such as hosted.dns.appthrust.io.")]
    version: Annotated[str, Field(description="Served version of the Provider, such as v1alpha1.")]


class NamespacedRef(Model):
    """An object by name, in the referrer's namespace when none is given."""

    namespace: Annotated[
        str | None, Field(description="Namespace of the object; defaults to that of the referrer.")
    ] = None
    name: Annotated[str, Field(description="Name of the object.")]

    def key_from(self, namespace: str) -> ObjectKey:
        """Return the full key as seen from an object in `namespace`."""
        return ObjectKey(self.namespace or namespace, self.name)


class FullRef(Model):
    """An object by namespace and name."""

    namespace: Annotated[str, Field(description="Namespace of the object.")]
    name: Annotated[str, Field(description="Name of the object.")]

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.namespace, self.name)


class SelectorOperator(StrEnum):
    """How a selector requirement relates a label to its values."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class SelectorRequirement(Model):
    """One `metav1.LabelSelectorRequirement`."""

    key: Annotated[str, Field(description="Label key that the requirement speaks of.")]
    operator: Annotated[SelectorOperator, Field(description="In, NotIn, Exists or DoesNotExist.")]
    values: Annotated[
        tuple[str, ...],
        Field(description="Label values for In and NotIn.", json_schema_extra={"x-kubernetes-list-type": "atomic"}),
    ] = ()


class LabelSelector(Model):
    """A `metav1.LabelSelector`: all of its parts must hold."""

    match_labels: Annotated[
        dict[str, str], Field(default_factory=dict, description="Labels that must be present with these values.")
    ]
    match_expressions: Annotated[
        tuple[SelectorRequirement, ...],
        Field(description="Requirements that must all hold.", json_schema_extra={"x-kubernetes-list-type": "atomic"}),
    ] = ()


def selects(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """True when the selector's every part holds for the labels."""
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    return all(_holds(requirement, labels) for requirement in selector.match_expressions)


def _holds(requirement: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case SelectorOperator.IN:
            return value is not None and value in requirement.values
        case SelectorOperator.NOT_IN:
            return value is None or value not in requirement.values
        case SelectorOperator.EXISTS:
            return value is not None
        case SelectorOperator.DOES_NOT_EXIST:
            return value is None
