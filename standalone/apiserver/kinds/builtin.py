"""The resources that exist without a CustomResourceDefinition.

Owns their names and scopes. Their schemas are in openapi/builtin.
"""

from __future__ import annotations

from typing import Any

from standalone.openapi.builtin import builtin_schema
from standalone.resource import STANDARD_VERBS, PrinterColumn, Resource

REVIEW_VERBS = ("create",)
_NAMESPACE_VERBS = tuple(verb for verb in STANDARD_VERBS if verb != "deletecollection")
_EVENT_FIELDS = ("reason", "type", "source", "reportingComponent")
_REFERENCE_FIELDS = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def _resource(api_version: str, kind: str, plural: str, *, namespaced: bool, **more: Any) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(
        group=group,
        version=version,
        plural=plural,
        singular=kind.lower(),
        kind=kind,
        list_kind=f"{kind}List",
        namespaced=namespaced,
        schema=builtin_schema(group, version, kind),
        **more,
    )


CUSTOM_RESOURCE_DEFINITION = _resource(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    has_status=True,
    has_generation=True,
    printer_columns=(PrinterColumn("Created At", "date", ".metadata.creationTimestamp"),),
)
NAMESPACE = _resource(
    "v1",
    "Namespace",
    "namespaces",
    namespaced=False,
    short_names=("ns",),
    has_status=True,
    verbs=_NAMESPACE_VERBS,
    selectable_fields=("status.phase",),
)
EVENT = _resource(
    "v1",
    "Event",
    "events",
    namespaced=True,
    short_names=("ev",),
    selectable_fields=(*(f"involvedObject.{name}" for name in _REFERENCE_FIELDS), *_EVENT_FIELDS),
)

BUILT_IN: tuple[Resource, ...] = (
    NAMESPACE,
    EVENT,
    _resource("v1", "ConfigMap", "configmaps", namespaced=True, short_names=("cm",)),
    _resource("v1", "Secret", "secrets", namespaced=True, selectable_fields=("type",)),
    _resource(
        "v1",
        "Service",
        "services",
        namespaced=True,
        short_names=("svc",),
        categories=("all",),
        has_status=True,
        selectable_fields=("spec.clusterIP", "spec.type"),
    ),
    _resource("v1", "ServiceAccount", "serviceaccounts", namespaced=True, short_names=("sa",)),
    _resource(
        "events.k8s.io/v1",
        "Event",
        "events",
        namespaced=True,
        short_names=("ev",),
        storage_group="",
        selectable_fields=(
            *(f"regarding.{name}" for name in _REFERENCE_FIELDS),
            "reason",
            "type",
            "reportingController",
        ),
    ),
    _resource("coordination.k8s.io/v1", "Lease", "leases", namespaced=True),
    _resource("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", namespaced=True, has_generation=True),
    CUSTOM_RESOURCE_DEFINITION,
    _resource(
        "apiregistration.k8s.io/v1",
        "APIService",
        "apiservices",
        namespaced=False,
        categories=("api-extensions",),
        has_status=True,
    ),
    _resource(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        namespaced=False,
        categories=("api-extensions",),
        has_generation=True,
    ),
    _resource(
        "authorization.k8s.io/v1",
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        namespaced=False,
        verbs=REVIEW_VERBS,
    ),
    _resource(
        "authorization.k8s.io/v1",
        "SelfSubjectRulesReview",
        "selfsubjectrulesreviews",
        namespaced=False,
        verbs=REVIEW_VERBS,
    ),
    _resource(
        "authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False, verbs=REVIEW_VERBS
    ),
)
