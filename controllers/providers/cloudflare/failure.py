"""What can go wrong between us and Cloudflare's API, as one tree of exceptions.

    CloudflareError
    ├── UnavailableError            nothing is known of what became of a write
    │   ├── ThrottledError          not let through yet; nothing was done
    │   └── BadAnswerError          an answer that the API reference does not allow
    ├── AccessDeniedError           the token may not do this; nothing was done
    │   └── TokenRefusedError       the token itself is not taken
    ├── NotFoundError               the zone or record is not there; nothing was done
    ├── AlreadyExistsError          something of that name is in the way; nothing was done
    └── RejectedError               the request is not taken as it is; nothing was done

Each class carries the condition reason that it means. Messages are bounded and never hold a token, a body or an account.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from controllers.api.reason import Reason

MESSAGE_LIMIT_CHARS: Final = 200
REJECTED: Final = "Cloudflare API rejected the request"
_LONG_WORDS: Final = re.compile(r"[A-Za-z0-9_\-+/=.]{30,}")


@dataclass(frozen=True, slots=True)
class ApiFault:
    """The first entry of an answer's `errors`."""

    code: int
    message: str


class CloudflareError(Exception):
    """Any failure of a call."""

    reason: ClassVar[Reason] = Reason.PROVIDER_UNAVAILABLE
    outcome_known: ClassVar[bool] = True

    def __init__(self, message: str, *, code: int = 0, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.retry_after_s = retry_after_s


class UnavailableError(CloudflareError):
    """No answer, or one that says nothing about the request."""

    outcome_known = False


class ThrottledError(UnavailableError):
    """Too many requests: to be repeated after `retry_after_s` at the earliest."""

    outcome_known = True


class TurnError(ThrottledError):
    """The account's requests are too many for one more now: it was not sent, and nothing is wrong with anything."""


class BadAnswerError(UnavailableError):
    """An answer that is not what the API reference says."""


class AccessDeniedError(CloudflareError):
    """The token may not do this."""

    reason = Reason.PROVIDER_ACCESS_DENIED


class TokenRefusedError(AccessDeniedError):
    """The token is unknown, malformed or revoked."""


class NotFoundError(CloudflareError):
    """What the request names is not there."""

    reason = Reason.EXTERNAL_RESOURCE_NOT_FOUND


class AlreadyExistsError(CloudflareError):
    """Something is in the way of what the request would create."""

    reason = Reason.PROVIDER_CONFLICT


class RejectedError(CloudflareError):
    """The request is not taken as it is."""

    reason = Reason.PROVIDER_INVALID_REQUEST


TOKEN_CODES: Final = frozenset({1000, 6003, 6103, 6111, 9106, 9107, 9109})
NOT_FOUND_CODES: Final = frozenset({1001, 7003, 81044})
NO_ROUTE_CODES: Final = frozenset({7000})
"""The API has no such request: its address is wrong, which says nothing about what was asked for."""
CONFLICT_CODES: Final = frozenset({1061, 81053, 81054, 81055, 81056, 81057, 81058})
THROTTLE_CODES: Final = frozenset({971, 10429})
AUTHENTICATION_CODES: Final = frozenset({10000, 10001})


def classify(status: int, faults: Sequence[ApiFault], retry_after_s: float, *, authenticating: bool) -> CloudflareError:
    """Return the error that a refusal means; `authenticating` when the request asks about nothing but the token.

    A status of 5xx, or a refusal in a successful status, says nothing about what became of a write.
    """
    code = faults[0].code if faults else 0
    message = tell(status, faults)
    if status == 429 or code in THROTTLE_CODES:
        return ThrottledError(message, code=code, retry_after_s=retry_after_s)
    if (
        status >= 500
        or status in {408, 425}
        or code in NO_ROUTE_CODES
        or (status < 400 and code not in NOT_FOUND_CODES | CONFLICT_CODES)
    ):
        return UnavailableError(message, code=code, retry_after_s=retry_after_s)
    if status == 401 or code == 1000 or (authenticating and code in TOKEN_CODES | AUTHENTICATION_CODES):
        return TokenRefusedError(message, code=code)
    if status == 403 or code in AUTHENTICATION_CODES:
        return AccessDeniedError(message, code=code)
    if status == 404 or code in NOT_FOUND_CODES:
        return NotFoundError(message, code=code)
    if code in CONFLICT_CODES:
        return AlreadyExistsError(message, code=code)
    return RejectedError(message, code=code)


def tell(status: int, faults: Sequence[ApiFault]) -> str:
    """Return a message that holds the status and the first error's code and message, bounded."""
    said = f", code {faults[0].code}: {plain(faults[0].message)}" if faults else ""
    return f"{REJECTED}: HTTP {status}{said}"


def plain(text: str) -> str:
    """Return a text of the API for a message: one line, bounded, without anything that might be a credential or an identifier."""
    line = " ".join(text.split())
    line = _LONG_WORDS.sub("…", "".join(each for each in line if each.isprintable()))
    return line if len(line) <= MESSAGE_LIMIT_CHARS else f"{line[: MESSAGE_LIMIT_CHARS - 1]}…"
