"""Refusals as the services word them."""

from __future__ import annotations

from collections.abc import Iterable


class AwsError(Exception):
    """One refusal: HTTP status, code and message."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status


def no_such_zone(zone_id: str) -> AwsError:
    return AwsError("NoSuchHostedZone", f"No hosted zone found with ID: {zone_id}", 404)


def invalid_batch(messages: Iterable[str]) -> AwsError:
    return AwsError("InvalidChangeBatch", f"[{', '.join(messages)}]")


def invalid_input(message: str) -> AwsError:
    return AwsError("InvalidInput", message)


def access_denied(who: str, action: str, resource: str) -> AwsError:
    return AwsError("AccessDenied", f"User: {who} is not authorized to perform: {action} on resource: {resource}", 403)
