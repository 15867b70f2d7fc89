from __future__ import annotations

from typing import Any

import orjson
import pytest

from kube import errors
from kube.errors import Cause, KubeError


def body(code: int, reason: str, message: str = "m", **details: Any) -> bytes:
    return orjson.dumps(
        {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message, "details": details}
    )


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (400, "BadRequest", errors.BadRequest),
        (401, "Unauthorized", errors.Unauthorized),
        (403, "Forbidden", errors.Forbidden),
        (405, "MethodNotAllowed", KubeError),
        (409, "AlreadyExists", errors.AlreadyExists),
        (409, "Conflict", errors.Conflict),
        (410, "Expired", errors.Gone),
        (410, "Gone", errors.Gone),
        (413, "RequestEntityTooLarge", errors.TooLarge),
        (415, "UnsupportedMediaType", KubeError),
        (422, "Invalid", errors.Invalid),
        (429, "TooManyRequests", errors.TooManyRequests),
        (500, "InternalError", errors.Unavailable),
        (500, "ServerTimeout", errors.ServerTimeout),
        (503, "ServiceUnavailable", errors.Unavailable),
        (504, "Timeout", errors.ServerTimeout),
    ],
)
def test_each_answer_has_its_class(code: int, reason: str, expected: type[KubeError]) -> None:
    error = errors.from_response(code, body(code, reason, "what the server says"))
    assert type(error) is expected
    assert (error.code, error.reason, error.message, str(error)) == (
        code,
        reason,
        "what the server says",
        "what the server says",
    )


def test_missing_object_and_missing_resource_are_told_apart() -> None:
    assert type(errors.from_response(404, body(404, "NotFound", name="www"))) is errors.NotFound
    assert type(errors.from_response(404, body(404, "NotFound"))) is errors.ResourceNotServed
    assert type(errors.from_response(404, b"404 page not found\n")) is errors.ResourceNotServed
    assert not issubclass(errors.ResourceNotServed, errors.NotFound)


def test_causes_of_a_refusal_are_kept() -> None:
    cause = {"field": "spec.ttl", "reason": "FieldValueInvalid", "message": "must be positive"}
    error = errors.from_response(422, body(422, "Invalid", causes=[cause, {"field": "spec.name"}]))
    assert error.causes == (
        Cause("spec.ttl", "FieldValueInvalid", "must be positive"),
        Cause("spec.name", "", ""),
    )


@pytest.mark.parametrize(
    ("header", "details", "expected"),
    [("7", {}, 7.0), (None, {"retryAfterSeconds": 3}, 3.0), (None, {}, 1.0), ("soon", {}, 1.0), ("-1", {}, 1.0)],
)
def test_throttling_always_says_how_long(header: str | None, details: dict[str, Any], expected: float) -> None:
    error = errors.from_response(429, body(429, "TooManyRequests", **details), header)
    assert error.retry_after_s == expected
    assert errors.from_response(429, b"", header).retry_after_s == (7.0 if header == "7" else 1.0)


def test_size_limit_of_etcd_is_recognised_behind_a_500() -> None:
    error = errors.from_response(500, body(500, "", "rpc error: etcdserver: request is too large"))
    assert type(error) is errors.TooLarge


@pytest.mark.parametrize("text", [b"", b"<html>bad gateway</html>", b"[1]", b'"x"', b"\xff\xfe"])
def test_answers_without_a_status_object_are_still_judged_by_their_code(text: bytes) -> None:
    error = errors.from_response(502, text)
    assert type(error) is errors.Unavailable
    assert error.message


def test_long_answers_are_cut() -> None:
    assert len(errors.from_response(500, b"x" * 100_000).message) == 300


def test_a_status_object_with_broken_parts_is_no_crash() -> None:
    broken = orjson.dumps({"kind": "Status", "code": "x", "details": [1], "message": 3})
    assert type(errors.from_response(409, broken)) is errors.Conflict


def test_retryable_errors_are_exactly_those_without_a_verdict() -> None:
    retryable = {
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RetryableError)
    }
    assert retryable == {errors.RetryableError, errors.TooManyRequests, errors.ServerTimeout, errors.Unavailable}
