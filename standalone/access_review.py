"""Answers what a client may do, and who it is (authorization.k8s.io/v1, authentication.k8s.io/v1).

Owns the review answers. There is one user with every right: whoever reaches the loopback socket, or has the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from standalone.schema.fault import Fault, FaultKind, invalid

USER_NAME = "system:admin"
GROUPS = ("system:masters", "system:authenticated")
_REASON = "the one user of this API server has every right"


def self_subject_access_review(review: Mapping[str, Any]) -> dict[str, Any]:
    """The review with its answer; check it with `access_review_faults` before."""
    return {**review, "status": {"allowed": True, "reason": _REASON}}


def access_review_faults(review: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with a SelfSubjectAccessReview: it has to ask about exactly one thing, and about nobody by name."""
    spec = review.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    faults = []
    if (resource is None) == (path is None):
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        faults.append(invalid("spec", None, detail))
    faults += _metadata_faults(review)
    return faults


def self_subject_rules_review(review: Mapping[str, Any]) -> dict[str, Any]:
    """The review with the rules of its namespace; check it with `rules_review_faults` before."""
    rules = {
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        "incomplete": False,
    }
    return {**review, "status": rules}


def rules_review_faults(review: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with a SelfSubjectRulesReview: rules hold in a namespace, so it has to name one."""
    if (review.get("spec") or {}).get("namespace"):
        return []
    return [Fault(FaultKind.REQUIRED, "spec.namespace", "", "no namespace on request")]


def self_subject_review(review: Mapping[str, Any]) -> dict[str, Any]:
    """The review with who the caller is."""
    return {**review, "status": {"userInfo": {"username": USER_NAME, "groups": list(GROUPS)}}}


def _metadata_faults(review: Mapping[str, Any]) -> list[Fault]:
    """A review is not kept, so a name or a label would mean nothing; managedFields are the client library's doing."""
    metadata = {key: value for key, value in (review.get("metadata") or {}).items() if key != "managedFields" and value}
    return [invalid("metadata", metadata, "must be empty")] if metadata else []
