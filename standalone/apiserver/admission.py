"""Admission: the handlers that may refuse a write, called in process with the objects a webhook would get.

Owns the AdmissionReview exchange (admission.k8s.io/v1) and the Status of a denial. Only validating handlers exist: a
handler must not change the objects it is shown, and a patch in its answer is an error.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import structlog

from standalone.apiserver.option import WriteOptions
from standalone.apiserver.status import ApiError, internal
from standalone.apiserver.target import Target, User

log = structlog.get_logger()

JsonObject = dict[str, Any]
Handler = Callable[[JsonObject], Awaitable[JsonObject]]


class Operation(StrEnum):
    """What is being done to an object."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


_OPTION_KINDS = {
    Operation.CREATE: "CreateOptions",
    Operation.UPDATE: "UpdateOptions",
    Operation.DELETE: "DeleteOptions",
}


@dataclass(frozen=True, slots=True)
class Registration:
    """One handler and what it wants to see; `name` stands in the message of its denials."""

    name: str
    operations: frozenset[Operation]
    handler: Handler


class DeniedError(ApiError):
    """A handler's refusal, with the Status it gave."""

    def __init__(self, status: JsonObject) -> None:
        super().__init__(status["code"], status.get("reason", ""), status["message"], status.get("details"))
        self._status = status

    @property
    def status(self) -> JsonObject:
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, **self._status}


class Admission:
    """The registered handlers by group, version, plural and subresource."""

    def __init__(self) -> None:
        self._registrations: dict[tuple[str, str, str, str], list[Registration]] = {}

    def register(
        self, group: str, version: str, plural: str, subresource: str | None, registration: Registration
    ) -> None:
        """Add a handler; it sees writes made through this version only."""
        self._registrations.setdefault((group, version, plural, subresource or ""), []).append(registration)

    async def review(
        self,
        operation: Operation,
        target: Target,
        obj: JsonObject | None,
        old: JsonObject | None,
        options: WriteOptions,
        user: User,
    ) -> list[str]:
        """Ask every handler concerned; return their warnings. Raises ApiError when one denies or fails."""
        resource = target.resource
        place = (resource.group, resource.version, resource.plural, target.subresource)
        warnings: list[str] = []
        for registration in self._registrations.get(place, ()):
            if operation in registration.operations:
                request = _request(operation, target, obj, old, options, user)
                warnings.extend(await _ask(registration, request))
        return warnings


def operations(names: Iterable[str]) -> frozenset[Operation]:
    """`CREATE`, `UPDATE`, `DELETE` or `*`."""
    wanted = set(names)
    return frozenset(Operation) if "*" in wanted else frozenset(Operation(name) for name in wanted)


def _request(
    operation: Operation,
    target: Target,
    obj: JsonObject | None,
    old: JsonObject | None,
    options: WriteOptions,
    user: User,
) -> JsonObject:
    resource = target.resource
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    location = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    request: JsonObject = {
        "uid": str(uuid.uuid4()),
        "kind": kind,
        "resource": location,
        "requestKind": kind,
        "requestResource": location,
        "name": target.name,
        "operation": operation.value,
        "userInfo": user.info,
        "object": obj,
        "oldObject": old,
        "dryRun": options.dry_run,
        "options": {"kind": _OPTION_KINDS[operation], "apiVersion": "meta.k8s.io/v1"},
    }
    if target.namespace:
        request["namespace"] = target.namespace
    if target.subresource:
        request["subResource"] = request["requestSubResource"] = target.subresource
    return request


async def _ask(registration: Registration, request: JsonObject) -> list[str]:
    name = registration.name
    review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    try:
        response = (await registration.handler(review))["response"]
    except Exception as error:  # a handler is foreign code: its failure refuses this write, no more
        log.exception("admission handler failed", handler=name, operation=request["operation"])
        raise internal(f'failed calling webhook "{name}": {error}') from error
    if response.get("uid") != request["uid"]:
        raise internal(f'failed calling webhook "{name}": expected response.uid="{request["uid"]}"')
    if response.get("patch"):
        raise internal(f'failed calling webhook "{name}": a validating webhook may not return response.patch')
    if not response["allowed"]:
        raise DeniedError(_denial(name, response.get("status") or {}))
    warnings: list[str] = response.get("warnings") or []
    return warnings


def _denial(name: str, given: JsonObject) -> JsonObject:
    """A handler's Status made fit for the client: never below 400, never a success, and saying who denied."""
    denied = f'admission webhook "{name}" denied the request'
    why = given.get("message") or given.get("reason")
    message = f"{denied}: {why}" if why else f"{denied} without explanation"
    code = max(given.get("code") or 0, 400)
    return {**given, "status": "Failure", "message": message, "code": code}
