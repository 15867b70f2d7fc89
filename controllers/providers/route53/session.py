"""Credentials of identities: the runtime's own, then one role after the other, and whose they are in the end.

Everything here blocks and runs in worker threads. Owns sessions and their renewal before they end. A credential leaves this module
only inside of an SDK client.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import boto3
import structlog
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, UnknownRegionError
from botocore.loaders import create_loader
from botocore.parsers import ResponseParserError
from botocore.regions import EndpointResolver

from controllers.providers.route53.failure import (
    CredentialUnavailable,
    Failure,
    RoleRefused,
    Unavailable,
    read_bare_refusal,
    translate,
)
from controllers.providers.route53.identity.resource import IdentitySpec, Role
from kube.object import ObjectKey

if TYPE_CHECKING:
    from mypy_boto3_route53 import Route53Client
    from mypy_boto3_sts import STSClient

_log = structlog.get_logger(__name__)

CONNECT_S: Final = 5
READ_S: Final = 30
UNKNOWN: Final = "The AWS SDK failed in a way that is not known; the log of the controller tells its kind."
RENEW_BEFORE: Final = timedelta(minutes=5)
SESSION_NAME_LIMIT: Final = 64
CHANGE_ANSWERED: Final = "before-parse.route-53.ChangeResourceRecordSets"
SDK_ERRORS: Final = (BotoCoreError, ClientError, ResponseParserError)

# Retries are ours: the SDK's own would repeat a submission whose outcome is not known.
SDK_CONFIG: Final = Config(
    connect_timeout=CONNECT_S,
    read_timeout=READ_S,
    retries={"total_max_attempts": 1, "mode": "standard"},
    max_pool_connections=8,
    user_agent_extra="dns-api",
)


@dataclass(frozen=True, slots=True)
class Chain:
    """What a session is made from; equal chains share one."""

    identity: ObjectKey
    spec: IdentitySpec


@dataclass(slots=True)
class _Opened:
    """The end of a chain; `ends` is None when the SDK renews its credential by itself."""

    session: boto3.Session
    ends: datetime | None
    route53: Route53Client | None = None


class Sessions:
    """Opens chains and keeps them open."""

    def __init__(self, endpoint_url: str | None, now: Callable[[], datetime]) -> None:
        self._endpoint_url = endpoint_url
        self._now = now
        self._opened: dict[ObjectKey, tuple[IdentitySpec, _Opened]] = {}
        self._locks: dict[ObjectKey, threading.Lock] = {}
        self._lock = threading.Lock()

    def route53(self, chain: Chain) -> Route53Client:
        """Return a client with a credential that is not about to end. Raises Failure."""
        with self._lock_of(chain.identity):
            opened = self._open(chain)
            if opened.route53 is None:
                opened.route53 = opened.session.client("route53", endpoint_url=self._endpoint_url, config=SDK_CONFIG)
                opened.route53.meta.events.register(CHANGE_ANSWERED, read_bare_refusal)
            return opened.route53

    def account_of(self, chain: Chain) -> str:
        """Open the chain anew, and return the account that STS says its credential belongs to. Raises Failure."""
        with self._lock_of(chain.identity), told_in_our_words():
            self._opened.pop(chain.identity, None)
            opened = self._open(chain)
            return self._sts(opened.session).get_caller_identity()["Account"]

    def forget(self, identity: ObjectKey) -> None:
        """Drop what is open for an identity: it is gone, or has to be opened anew."""
        with self._lock:
            self._opened.pop(identity, None)

    def _lock_of(self, identity: ObjectKey) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(identity, threading.Lock())

    def _open(self, chain: Chain) -> _Opened:
        kept = self._opened.get(chain.identity)
        if kept is not None and kept[0] == chain.spec and not self._is_ending(kept[1]):
            return kept[1]
        opened = self._open_anew(chain)
        self._opened[chain.identity] = chain.spec, opened
        return opened

    def _open_anew(self, chain: Chain) -> _Opened:
        region = chain.spec.region
        session = _base(region)
        ends: datetime | None = None
        for index, role in enumerate(chain.spec.assume_role_chain):
            try:
                session, role_ends = self._assume(session, region, role, session_name(chain.identity, index, role))
            except SDK_ERRORS as error:
                failure = translate(error)
                if isinstance(failure, Unavailable):
                    raise failure from None
                raise RoleRefused(f"Step {index + 1} of spec.assumeRoleChain was refused.") from None
            ends = min(ends, role_ends) if ends is not None else role_ends
        return _Opened(session, ends)

    def _assume(self, session: boto3.Session, region: str, role: Role, name: str) -> tuple[boto3.Session, datetime]:
        sts = self._sts(session)
        if role.external_id is not None:
            answer = sts.assume_role(RoleArn=role.role_arn, RoleSessionName=name, ExternalId=role.external_id)
        else:
            answer = sts.assume_role(RoleArn=role.role_arn, RoleSessionName=name)
        found = answer["Credentials"]
        following = boto3.Session(
            aws_access_key_id=found["AccessKeyId"],
            aws_secret_access_key=found["SecretAccessKey"],
            aws_session_token=found["SessionToken"],
            region_name=region,
        )
        return following, found["Expiration"].astimezone(UTC)

    def _sts(self, session: boto3.Session) -> STSClient:
        return session.client("sts", endpoint_url=self._endpoint_url, config=SDK_CONFIG)

    def _is_ending(self, opened: _Opened) -> bool:
        return opened.ends is not None and opened.ends - RENEW_BEFORE <= self._now()


def session_name(identity: ObjectKey, index: int, role: Role) -> str:
    """Return the name of a role's session: the identity's own choice, else one that is the same each time."""
    if role.session_name is not None:
        return role.session_name
    name = f"dns-api.{identity.namespace}.{identity.name}"
    digest = hashlib.sha256(f"{identity}/{index}/{role.role_arn}".encode()).hexdigest()[:8]
    return f"{name[: SESSION_NAME_LIMIT - len(digest) - 1]}-{digest}"


@functools.cache
def _partitions() -> EndpointResolver:
    # From the SDK's own data, without a session: that would look for profiles, which have nothing to do with it.
    return EndpointResolver(create_loader().load_data("endpoints"))


def is_region(name: str) -> bool:
    """Say whether the SDK knows a partition that the region belongs to."""
    try:
        _partitions().get_partition_for_region(name)
    except UnknownRegionError:
        return False
    return True


@contextmanager
def told_in_our_words() -> Iterator[None]:
    """Have whatever goes wrong in the SDK be a Failure; this is where a worker thread ends.

    Raised `from None`: a traceback with the SDK's error in it would hold its text.
    """
    try:
        yield
    except Failure:
        raise
    except SDK_ERRORS as error:
        raise translate(error) or Failure(UNKNOWN) from None
    except Exception as error:  # noqa: BLE001 - the edge of a worker thread
        _log.error("the aws sdk failed in an unknown way", kind=f"{type(error).__module__}.{type(error).__name__}")
        raise Failure(UNKNOWN) from None


def _base(region: str) -> boto3.Session:
    """Return a session with the runtime's own credential, which is there."""
    try:
        session = boto3.Session(region_name=region)
        credentials = session.get_credentials()
        if credentials is not None:
            credentials.get_frozen_credentials()
            return session
    except SDK_ERRORS as error:
        failure = translate(error)
        if isinstance(failure, Unavailable):
            raise failure from None
    except (OSError, ValueError):
        pass  # a token file or a credential process that the environment names and does not have, or that makes no sense
    raise CredentialUnavailable("The runtime environment gives no AWS credential.")
