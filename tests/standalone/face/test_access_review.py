"""Reviews: the one user may do everything, and a question has to be one."""

from typing import Any

import pytest

from standalone.access_review import (
    access_review_faults,
    rules_review_faults,
    self_subject_access_review,
    self_subject_review,
    self_subject_rules_review,
)

KIND = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
RESOURCE = {"verb": "get", "resource": "secrets"}
PATH = {"verb": "get", "path": "/version"}


@pytest.mark.parametrize("spec", [{"resourceAttributes": RESOURCE}, {"nonResourceAttributes": PATH}])
def test_everything_is_allowed_and_the_question_comes_back_with_the_answer(spec: dict[str, Any]) -> None:
    review = {**KIND, "metadata": {"creationTimestamp": None}, "spec": spec}
    assert access_review_faults(review) == []
    answered = self_subject_access_review(review)
    assert answered["status"]["allowed"] is True
    assert answered["spec"] == spec
    assert "status" not in review


@pytest.mark.parametrize("spec", [{}, None, {"resourceAttributes": RESOURCE, "nonResourceAttributes": PATH}])
def test_a_question_about_none_or_two_things_is_refused(spec: Any) -> None:
    (fault,) = access_review_faults({**KIND, "spec": spec})
    assert fault.message == (
        "spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
    )


def test_a_review_has_no_name_or_labels() -> None:
    review = {**KIND, "metadata": {"name": "x", "managedFields": [{}]}, "spec": {"resourceAttributes": RESOURCE}}
    (fault,) = access_review_faults(review)
    assert fault.message == 'metadata: Invalid value: {"name":"x"}: must be empty'


def test_the_rules_of_a_namespace_are_all_of_them() -> None:
    review = {"spec": {"namespace": "default"}}
    assert rules_review_faults(review) == []
    status = self_subject_rules_review(review)["status"]
    assert status["incomplete"] is False
    assert status["resourceRules"] == [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]


@pytest.mark.parametrize("review", [{}, {"spec": None}, {"spec": {"namespace": ""}}])
def test_rules_without_a_namespace_are_refused(review: dict[str, Any]) -> None:
    (fault,) = rules_review_faults(review)
    assert fault.field == "spec.namespace"


def test_the_caller_is_the_administrator() -> None:
    user = self_subject_review({})["status"]["userInfo"]
    assert user["username"] == "system:admin"
    assert "system:masters" in user["groups"]
