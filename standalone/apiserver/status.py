"""Refusals as Kubernetes words them: meta/v1 Status objects with reason, details and causes.

Owns the wording and the HTTP codes. Never decides when to refuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from standalone.resource import Resource
from standalone.schema.fault import Fault
from standalone.schema.fault import invalid as invalid_value

JsonObject = dict[str, Any]


class ApiError(Exception):
    """A refusal; `status` is the Status object that the client gets and `code` its HTTP code."""

    retry_after_s: int | None = None
    warnings: tuple[str, ...] = ()
    """What a client is warned of beside the refusal."""

    def __init__(self, code: int, reason: str, message: str, details: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details

    @property
    def status(self) -> JsonObject:
        status: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return status | {"code": self.code}


@contextmanager
def warning(warnings: list[str]) -> Iterator[None]:
    """Let a refusal that is raised inside carry the warnings, which are often what explains it."""
    try:
        yield
    except ApiError as error:
        error.warnings = tuple(warnings)
        raise


def success(resource: Resource, name: str, uid: str) -> JsonObject:
    """The Status that answers a completed delete."""
    details = _details(resource, name) | {"uid": uid}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def not_found(resource: Resource, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource.group_resource} "{name}" not found', _details(resource, name))


def no_such_path() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: Resource, name: str, *, terminating: bool = False) -> ApiError:
    going = "object is being deleted: " if terminating else ""
    message = f'{going}{resource.group_resource} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(resource, name))


def conflict(resource: Resource, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {resource.group_resource} "{name}": {why}'
    return ApiError(409, "Conflict", message, _details(resource, name))


def kind_conflict(resource: Resource, name: str, why: str) -> ApiError:
    """A conflict that names the kind, as those of delete preconditions do."""
    kind = _kind(resource)
    details = {"name": name} | ({"group": resource.group} if resource.group else {}) | {"kind": resource.kind}
    return ApiError(409, "Conflict", f'Operation cannot be fulfilled on {kind} "{name}": {why}', details)


def modified(resource: Resource, name: str) -> ApiError:
    """The conflict of a stale resourceVersion."""
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(resource, name, why)


def apply_conflict(message: str, causes: Sequence[JsonObject]) -> ApiError:
    """Fields that other managers own (server-side apply without `force`)."""
    return ApiError(409, "Conflict", message, {"causes": list(causes)})


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def foreign_host(host: str) -> ApiError:
    message = f"found the Host header {host[:300]!r}, allowed without a token: 127.0.0.1, [::1] or localhost"
    return ApiError(403, "Forbidden", message)


def forbidden(resource: Resource, name: str, why: str, causes: Sequence[JsonObject] = ()) -> ApiError:
    message = f'{resource.group_resource} "{name}" is forbidden: {why}'
    details = _details(resource, name) | ({"causes": list(causes)} if causes else {})
    return ApiError(403, "Forbidden", message, details)


def invalid(resource: Resource, name: str, faults: Sequence[Fault]) -> ApiError:
    """Every fault of an object in one refusal, by field path."""
    faults = list({(fault.kind, fault.message): fault for fault in faults}.values())
    messages = list(dict.fromkeys(fault.message for fault in faults))
    text = messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"
    details = _details(replace(resource, plural=resource.kind), name)
    details |= {"causes": [fault.cause for fault in faults]}
    return ApiError(422, "Invalid", f'{_kind(resource)} "{name}" is invalid: {text}', details)


def version_missing(resource: Resource, name: str) -> ApiError:
    """An update that does not say which state it is based on; it names the plural where other faults name the kind."""
    fault = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
    return invalid(replace(resource, kind=resource.plural), name, [fault])


def invalid_options(kind: str, *faults: Fault) -> ApiError:
    """Faults of the options of a request, e.g. of `CreateOptions` (meta/v1)."""
    text = faults[0].message if len(faults) == 1 else f"[{', '.join(fault.message for fault in faults)}]"
    details = {"group": "meta.k8s.io", "kind": kind, "causes": [fault.cause for fault in faults]}
    return ApiError(422, "Invalid", f'{kind}.meta.k8s.io "" is invalid: {text}', details)


def method_not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return ApiError(415, "UnsupportedMediaType", message)


def not_acceptable(offered: Sequence[str]) -> ApiError:
    message = f"only the following media types are accepted: {', '.join(offered)}"
    return ApiError(406, "NotAcceptable", message)


def list_expired(next_token: str | None) -> ApiError:
    """A continued or exact list whose version is no longer kept; the token continues from the newest state instead."""
    if next_token is None:
        return ApiError(410, "Expired", "The resourceVersion for the provided list is too old.")
    error = ApiError(
        410,
        "Expired",
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
        "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
        "modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    )
    return ContinueError(error, next_token)


class ContinueError(ApiError):
    """An expired list that tells how to go on; the token travels in the Status' list metadata."""

    def __init__(self, error: ApiError, next_token: str) -> None:
        super().__init__(error.code, error.reason, error.message)
        self.next_token = next_token

    @property
    def status(self) -> JsonObject:
        return super().status | {"metadata": {"continue": self.next_token}}


def watch_expired(requested: int, oldest: int) -> ApiError:
    return ApiError(410, "Expired", f"too old resource version: {requested} ({oldest})")


def version_ahead(requested: int, current: int) -> ApiError:
    """A resource version this server has not reached; clients retry after a second (api-concepts, "timeout")."""
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    error = ApiError(504, "Timeout", message, {"causes": causes, "retryAfterSeconds": 1})
    error.retry_after_s = 1
    return error


def body_too_large(limit_bytes: int) -> ApiError:
    message = f"Request entity too large: limit is {limit_bytes}"
    return ApiError(413, "RequestEntityTooLarge", message, {})


def object_too_large(size_bytes: int, limit_bytes: int) -> ApiError:
    message = (
        f"etcdserver: request is too large: the object takes {size_bytes} bytes, at most {limit_bytes} are allowed"
    )
    return ApiError(413, "RequestEntityTooLarge", message, {})


def internal(message: str) -> ApiError:
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", {"causes": [{"message": message}]})


def _kind(resource: Resource) -> str:
    """The `Kind.group` form of messages about an object's content; bare kind for core."""
    return f"{resource.kind}.{resource.group}" if resource.group else resource.kind


def _details(resource: Resource, name: str) -> JsonObject:
    details: JsonObject = {"name": name} if name else {}
    if resource.group:
        details["group"] = resource.group
    return details | {"kind": resource.plural}
