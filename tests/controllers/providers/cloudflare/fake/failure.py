"""Errors that the fake answers with: HTTP status, code and message as Cloudflare's API does, and faults that a test orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto


@dataclass(frozen=True)
class ApiError(Exception):
    """One refusal, told in the envelope's `errors`."""

    status: int
    code: int
    message: str


INVALID_TOKEN = ApiError(401, 1000, "Invalid API Token")
BAD_HEADER = ApiError(400, 6003, "Invalid request headers")
AUTHENTICATION = ApiError(403, 10000, "Authentication error")
UNAUTHORIZED = ApiError(403, 9109, "Unauthorized to access requested resource")
NO_ROUTE = ApiError(404, 7003, "Could not route to the resource, perhaps your object identifier is invalid?")
NO_ZONE = ApiError(404, 1001, "Invalid zone identifier")
NO_RECORD = ApiError(404, 81044, "Record does not exist.")
QUOTA = ApiError(400, 81045, "The record quota has been exceeded.")
ADDRESS_OR_CNAME = ApiError(400, 81053, "An A, AAAA, or CNAME record with that host already exists.")
CNAME = ApiError(400, 81054, "A CNAME record with that host already exists.")
NS = ApiError(400, 81056, "NS records with that host already exist.")
EXISTS = ApiError(400, 81057, "Record already exists.")
IDENTICAL = ApiError(400, 81058, "An identical record already exists.")


class Kind(Enum):
    """What goes wrong with one request; `AFTER_…` ones do so once it has taken effect."""

    SERVER_ERROR = auto()  # 500 in an envelope
    BAD_GATEWAY_HTML = auto()  # 502 with a page instead of an envelope
    OK_HTML = auto()  # 200 with a page instead of an envelope
    NOT_FOUND_HTML = auto()  # 404 with a page instead of an envelope
    UNAUTHORIZED = auto()  # 401 in an envelope, whatever the token
    NOT_THERE = auto()  # 404 in an envelope: what the request names is not there
    TOO_MANY = auto()  # 429 with Retry-After
    NOT_SUCCESS = auto()  # 200 with success: false
    NO_RESULT = auto()  # 200 with success: true and result: null
    HANG_UP = auto()  # the connection is closed without an answer
    AFTER_HANG_UP = auto()
    AFTER_SERVER_ERROR = auto()
    AFTER_HTML = auto()
    AFTER_NO_RESULT = auto()
    MALFORMED_ID = auto()  # an identifier in the answer is not one
    DUPLICATE_ID = auto()  # two objects in the answer have one identifier

    @property
    def after(self) -> bool:
        """Whether the request takes effect."""
        return self.name.startswith("AFTER") or self in {Kind.MALFORMED_ID, Kind.DUPLICATE_ID}

    @property
    def told(self) -> bool:
        """Whether the API says that nothing was done, and why."""
        return self in {Kind.UNAUTHORIZED, Kind.NOT_THERE}


@dataclass(frozen=True)
class Call:
    """One request, as faults choose among them."""

    method: str
    path: str
    query: dict[str, str]

    @property
    def writes(self) -> bool:
        return self.method != "GET"


@dataclass
class Fault:
    """A fault for the next `times` calls that `chosen` says yes to, after the first `skip` of them."""

    kind: Kind
    chosen: Callable[[Call], bool] = lambda _: True
    times: int = 1
    skip: int = 0
    retry_after_s: int = 1

    def strikes(self, call: Call) -> bool:
        if self.times <= 0 or not self.chosen(call):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True
