# ruff: noqa: N818  (outcomes of a service, named for what they say)
"""Error tree of everything that talks to AWS, and the only place where the SDK's errors become ours.

    Failure
    ├── CredentialUnavailable   there is no base credential
    ├── RoleRefused             a role of the chain cannot be assumed
    ├── AccessDenied            the credential may not do this
    ├── NotThere                the hosted zone or change does not exist
    ├── InTheWay                something that exists stands against it
    ├── ReferenceUsed           the caller reference has made a hosted zone before
    ├── Rejected                the request is wrong
    │   ├── Malformed           the request is none by the API's own schema
    │   └── BatchRejected       a batch is wrong as a whole, because of one of its changes at least
    └── Unavailable             an outage, throttling, no connection: a later attempt may pass

Messages are our own words: those of the services hold account IDs, ARNs and values. Never retries anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Final
from xml.etree import ElementTree

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
)
from botocore.parsers import ResponseParserError

from controllers.api.reason import Reason
from kube.http_time import retry_after_s


class Failure(Exception):
    """A request failed; `reason` is the one that conditions tell it with, `message` is fit for a user."""

    reason = Reason.RECONCILE_ERROR

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class CredentialUnavailable(Failure):
    """The runtime has no credential."""

    reason = Reason.PROVIDER_IDENTITY_NOT_READY


class RoleRefused(Failure):
    """AssumeRole was refused."""

    reason = Reason.PROVIDER_IDENTITY_NOT_READY


class AccessDenied(Failure):
    """The credential is invalid, or may not do this."""

    reason = Reason.PROVIDER_ACCESS_DENIED


class NotThere(Failure):
    """What the request names does not exist."""

    reason = Reason.EXTERNAL_RESOURCE_NOT_FOUND


class InTheWay(Failure):
    """The state of the account stands against the request."""

    reason = Reason.PROVIDER_CONFLICT


class ReferenceUsed(InTheWay):
    """The caller reference belongs to a hosted zone that was created before."""


class Rejected(Failure):
    """The request is wrong in itself."""

    reason = Reason.PROVIDER_INVALID_REQUEST


class Malformed(Rejected):
    """The request is none by the API's own schema, because of one of its parts perhaps."""


class Fault(Enum):
    """What is wrong with a batch, as far as its refusal tells."""

    TAKEN = auto()  # a record set is there that was not
    STALE = auto()  # a record set is not there any more, or not as it was
    NEIGHBOUR = auto()  # record sets of one name do not go together
    APEX = auto()  # a CNAME at the apex
    FULL = auto()  # a quota, such as that of record sets in a hosted zone
    VALUE = auto()  # a value or a name


class BatchRejected(Rejected):
    """A batch was refused, and nothing of it was done; `fault` is the one that its refusal names first."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(_BATCH_WORDS[fault])
        self.fault = fault
        if fault not in {Fault.FULL, Fault.VALUE}:
            self.reason = Reason.PROVIDER_CHANGE_DEFERRED if fault is Fault.STALE else Reason.PROVIDER_CONFLICT


class Unavailable(Failure):
    """The same request may pass later. `outcome_unknown` when it may have been done all the same."""

    reason = Reason.PROVIDER_UNAVAILABLE

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, outcome_unknown: bool = False, busy: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.outcome_unknown = outcome_unknown
        if busy:
            self.reason = Reason.PROVIDER_CHANGE_DEFERRED


BATCH_REFUSED: Final = "InvalidChangeBatch"
BARE_REFUSAL: Final = b"<InvalidChangeBatch"
BARE_REFUSAL_WITHIN: Final = 200
"""Octets of an answer that its root element begins in."""
SERVICE_FAILED: Final = "AWS did not answer properly; it is asked again."
_REJECTED: Final = "Route 53 rejects the request as it is written."

_BATCH_WORDS: Final = {
    Fault.TAKEN: "A record set of this name and type has come to be in the hosted zone that dns-api did not make.",
    Fault.STALE: "The record set has changed in the hosted zone meanwhile; it is looked at again.",
    Fault.NEIGHBOUR: "Route 53 refuses the record set beside others of the same name.",
    Fault.APEX: "Route 53 takes no CNAME at the apex of a hosted zone.",
    Fault.FULL: "A quota of Route 53 is used up, such as that of record sets in a hosted zone.",
    Fault.VALUE: "Route 53 rejects the record set as it is written.",
}
_BATCH_SIGNS: Final = (
    ("but it already exists", Fault.TAKEN),
    ("but it was not found", Fault.STALE),
    ("do not match the current values", Fault.STALE),
    ("is not permitted at apex", Fault.APEX),
    ("conflicts with other", Fault.NEIGHBOUR),
    ("conflicting RRSet", Fault.NEIGHBOUR),
)
_FULL: Final = re.compile(r"\brecord(s| sets) limit of \d+ exceeded")
_QUOTED: Final = re.compile(r"'.*'", re.DOTALL)
"""What people have written stands within the first and the last quotation mark."""
_DENIED: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "NotAuthorized",
        "OptInRequired",
        "RegionDisabledException",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)
_THROTTLED: Final = frozenset(
    {
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottledException",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_IN_THE_WAY: Final = {
    "HostedZoneNotEmpty": "The hosted zone holds record sets beside its own NS and SOA; it is not deleted as long as they are there.",
    "ConflictingDomainExists": "Route 53 has a domain that conflicts with this one.",
    "DelegationSetNotAvailable": "Route 53 cannot create another hosted zone of this name.",
    "TooManyHostedZones": "The account has as many hosted zones as its quota allows.",
}


def translate(error: Exception) -> Failure | None:
    """Return what an error of the SDK means, None for one that is none of its own."""
    match error:
        case ClientError():
            return _from_answer(error.response)
        case NoCredentialsError() | PartialCredentialsError() | CredentialRetrievalError():
            return CredentialUnavailable("The runtime environment gives no AWS credential.")
        case ParamValidationError():
            return Malformed("The AWS SDK refuses the request before it is sent.")
        case EndpointConnectionError() | ConnectTimeoutError():
            return Unavailable("AWS cannot be reached; it is tried again.")
        case HTTPClientError() | ResponseParserError():
            return Unavailable(SERVICE_FAILED, outcome_unknown=True)
        case BotoCoreError():
            return Rejected("The AWS SDK cannot make the request.")
    return None


def _from_answer(response: Any) -> Failure:
    code = str(response.get("Error", {}).get("Code", ""))
    metadata = response.get("ResponseMetadata", {})
    status = int(metadata.get("HTTPStatusCode", 0))
    wait_s = retry_after_s(metadata.get("HTTPHeaders", {}).get("retry-after"))
    if code == "PriorRequestNotComplete":
        message = "Route 53 still works on an earlier request for the hosted zone."
        return Unavailable(message, retry_after_s=wait_s, busy=True)
    if code in _THROTTLED or status == 429:
        return Unavailable("AWS limits how often it is asked; it is asked again.", retry_after_s=wait_s)
    if code == BATCH_REFUSED:
        return BatchRejected(_batch_fault(str(response["Error"].get("Message", ""))))
    if code == "InvalidInput":
        return Malformed(_REJECTED)
    if code in {"NoSuchHostedZone", "NoSuchChange"}:
        return NotThere("Route 53 does not have it.")
    if code == "HostedZoneAlreadyExists":
        return ReferenceUsed("The caller reference was used before.")
    if code in _IN_THE_WAY:
        return InTheWay(_IN_THE_WAY[code])
    if code in _DENIED or status in {401, 403}:
        return AccessDenied("AWS denies the request to the identity of the ZoneClass.")
    if status >= 500 or not 400 <= status < 500:
        return Unavailable(SERVICE_FAILED, retry_after_s=wait_s, outcome_unknown=True)
    return Rejected(_REJECTED)


def _batch_fault(text: str) -> Fault:
    """Return what a refusal tells; that a hosted zone is full, which speaks for all of it, by AWS's own words alone."""
    named = next((fault for sign, fault in _BATCH_SIGNS if sign in text), None)
    if named is None and _FULL.search(_QUOTED.sub("", text)):
        return Fault.FULL
    return named or Fault.VALUE


def read_bare_refusal(response_dict: Mapping[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """Have the refusal of a batch that has messages and no code be an error; the SDK calls this before it reads an answer.

    That is the form of InvalidChangeBatch in the API reference; the SDK would find neither a code nor a word in it.
    """
    body = response_dict["body"]
    if response_dict["status_code"] < 400 or BARE_REFUSAL not in body[:BARE_REFUSAL_WITHIN]:
        return
    try:
        words = [text for each in ElementTree.fromstring(body).iter() if (text := (each.text or "").strip())]
    except ElementTree.ParseError:
        return  # which the SDK says, too
    customized_response_dict["Error"] = {"Code": BATCH_REFUSED, "Message": f"[{', '.join(words)}]"}
