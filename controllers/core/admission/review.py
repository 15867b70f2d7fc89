"""AdmissionReview (admission.k8s.io/v1): what an API server asks and what it is answered.

Owns the two shapes and the words of a refusal. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from controllers.core.providercontract.fault import Fault

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"
NAMED_FAULTS_LIMIT: Final = 200


class Operation(StrEnum):
    """What the request does to the object."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class ReviewError(ValueError):
    """A body that is no AdmissionReview request; the text names the field, what was found and what is allowed."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question of an API server; `new` is None on a DELETE, `old` on a CREATE."""

    uid: str
    operation: Operation
    group: str
    kind: str
    namespace: str
    name: str
    new: Mapping[str, Any] | None
    old: Mapping[str, Any] | None

    @property
    def object(self) -> Mapping[str, Any]:
        """The object that the request writes, an empty one when it writes none."""
        return self.new or {}


def parse_request(review: Mapping[str, Any]) -> Request:
    """Read the request of a review. Raises ReviewError."""
    if review.get("apiVersion") != API_VERSION or review.get("kind") != KIND:
        found = f"{review.get('apiVersion')!r}, {review.get('kind')!r}"
        raise ReviewError(f"apiVersion and kind: found {found}, allowed: {API_VERSION}, {KIND}")
    request = _object(review, "request")
    uid = request.get("uid")
    if not isinstance(uid, str) or not uid:
        raise ReviewError(f"request.uid: found {uid!r}, allowed: a text that is not empty")
    kind = _object(request, "kind")
    operation = _operation(request.get("operation"))
    new, old = request.get("object"), request.get("oldObject")
    needed = "oldObject" if operation is Operation.DELETE else "object"
    if not isinstance(request.get(needed), Mapping):
        raise ReviewError(f"request.{needed}: found {type(request.get(needed)).__name__}, allowed: an object")
    return Request(
        uid=uid,
        operation=operation,
        group=str(kind.get("group") or ""),
        kind=str(kind.get("kind") or ""),
        namespace=str(request.get("namespace") or ""),
        name=str(request.get("name") or ""),
        new=new if isinstance(new, Mapping) else None,
        old=old if isinstance(old, Mapping) else None,
    )


def allow(uid: str) -> dict[str, Any]:
    """Return the review that lets the request pass."""
    return _review({"uid": uid, "allowed": True})


def deny(request: Request, faults: Sequence[Fault]) -> dict[str, Any]:
    """Return the review that refuses the request and names its faults (code 422, reason Invalid)."""
    named = faults[:NAMED_FAULTS_LIMIT]
    rest = len(faults) - len(named)
    lines = [f"- {fault}" for fault in named] + ([f"- and {rest} more"] if rest else [])
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    causes = [{"reason": fault.reason.value, "message": fault.message, "field": fault.field} for fault in named]
    details = {"name": request.name, "group": request.group, "kind": request.kind, "causes": causes}
    message = f"{request.kind} {request.name or 'without a name'} has {count}:\n" + "\n".join(lines)
    return _refusal(request.uid, 422, "Invalid", message, details)


def forbid(request: Request, message: str) -> dict[str, Any]:
    """Return the review that refuses the request as such (code 403, reason Forbidden)."""
    details = {"name": request.name, "group": request.group, "kind": request.kind}
    return _refusal(request.uid, 403, "Forbidden", message, details)


def defer(request: Request, message: str) -> dict[str, Any]:
    """Return the review that refuses the request for now (code 503, reason ServiceUnavailable)."""
    details = {"name": request.name, "group": request.group, "kind": request.kind, "retryAfterSeconds": 1}
    return _refusal(request.uid, 503, "ServiceUnavailable", message, details)


def _refusal(uid: str, code: int, reason: str, message: str, details: Mapping[str, Any]) -> dict[str, Any]:
    status = {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }
    return _review({"uid": uid, "allowed": False, "status": status})


def _review(response: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "response": response}


def _object(parent: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    value = parent.get(field)
    if not isinstance(value, Mapping):
        raise ReviewError(f"{field}: found {type(value).__name__}, allowed: an object")
    return value


def _operation(value: object) -> Operation:
    try:
        return Operation(str(value))
    except ValueError:
        raise ReviewError(f"request.operation: found {value!r}, allowed: {', '.join(Operation)}") from None
