"""Reviews: kinds that are answered instead of stored (authorization.k8s.io, authentication.k8s.io).

Owns the step from a posted review to its answer; the answers are those of access_review.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from standalone import access_review
from standalone.apiserver.api import Api, Outcome
from standalone.apiserver.metadata.identity import check_identity
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.shape import shape
from standalone.apiserver.status import invalid
from standalone.apiserver.target import Target
from standalone.schema.fault import Fault

JsonObject = dict[str, Any]

_Answer = Callable[[Mapping[str, Any]], JsonObject]
_Judge = Callable[[Mapping[str, Any]], list[Fault]]

_REVIEWS: Mapping[str, tuple[_Answer, _Judge]] = {
    "selfsubjectaccessreviews": (access_review.self_subject_access_review, access_review.access_review_faults),
    "selfsubjectrulesreviews": (access_review.self_subject_rules_review, access_review.rules_review_faults),
    "selfsubjectreviews": (access_review.self_subject_review, lambda review: []),
}


def is_review(target: Target) -> bool:
    return target.resource.plural in _REVIEWS and not target.resource.custom


def answer(api: Api, target: Target, review: JsonObject, options: WriteOptions) -> Outcome:
    """The review with its status; nothing is stored. Raises ApiError 400, 422."""
    warnings = shape(api, target, review, None, options)
    check_identity(target, review)
    respond, judge = _REVIEWS[target.resource.plural]
    if faults := judge(review):
        raise invalid(target.resource, "", faults)
    return Outcome(201, respond(review), None, tuple(warnings))
