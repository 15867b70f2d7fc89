"""Who calls: access keys, roles and sessions, and the two operations of STS that speak of them."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.controllers.providers.route53.fake.error import AwsError, access_denied

CREDENTIAL = re.compile(r"Credential=([A-Za-z0-9]+)/")
ROLE = re.compile(r"arn:aws:iam::([0-9]{12}):role/(?:.*/)?([^/]+)")
SESSION_NAME = re.compile(r"[\w+=,.@-]{2,64}")
SESSION_S = 3600


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose key a request is signed with."""

    account: str
    arn: str


@dataclass(frozen=True, slots=True)
class Key:
    """One access key; a session's has a token and an end."""

    caller: Caller
    secret: str
    token: str | None = None
    ends: datetime | None = None


@dataclass(slots=True)
class Identities:
    """All keys and roles; `sessions` records (role ARN, session name) of each session that was begun."""

    keys: dict[str, Key] = field(default_factory=dict)
    roles: dict[str, str | None] = field(default_factory=dict)
    sessions: list[tuple[str, str]] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    session_s: float = SESSION_S

    def add_user(self, key_id: str, secret: str, account: str, name: str = "dns-api") -> None:
        self.keys[key_id] = Key(Caller(account, f"arn:aws:iam::{account}:user/{name}"), secret)
        self.secrets += [key_id, secret]

    def add_role(self, arn: str, external_id: str | None = None) -> None:
        self.roles[arn] = external_id

    def caller_of(self, authorization: str, token: str | None) -> Caller:
        """Return who signed a request. Raises AwsError."""
        found = CREDENTIAL.search(authorization)
        key = self.keys.get(found[1]) if found is not None else None
        if key is None or key.token != token:
            raise AwsError("InvalidClientTokenId", "The security token included in the request is invalid.", 403)
        if key.ends is not None and key.ends < datetime.now(UTC):
            raise AwsError("ExpiredToken", "The security token included in the request is expired", 403)
        return key.caller

    def answer(self, caller: Caller, form: dict[str, str]) -> tuple[str, dict[str, Any]]:
        """Answer a call of STS. Raises AwsError."""
        action = form.get("Action", "")
        match action:
            case "GetCallerIdentity":
                return action, {"Arn": caller.arn, "UserId": "AIDAEXAMPLE", "Account": caller.account}
            case "AssumeRole":
                return action, self._assume(caller, form)
        raise AwsError("InvalidAction", f"Could not find operation {action} for version 2011-06-15", 400)

    def _assume(self, caller: Caller, form: dict[str, str]) -> dict[str, Any]:
        arn, name = form["RoleArn"], form["RoleSessionName"]
        found = ROLE.fullmatch(arn)
        if found is None or not SESSION_NAME.fullmatch(name):
            raise AwsError("ValidationError", f"{arn} is invalid", 400)
        if arn not in self.roles or self.roles[arn] != form.get("ExternalId"):
            raise access_denied(caller.arn, "sts:AssumeRole", arn)
        self.sessions.append((arn, name))
        key_id = f"ASIA{secrets.token_hex(8).upper()}"
        secret, token = secrets.token_urlsafe(30), secrets.token_urlsafe(60)
        ends = datetime.now(UTC) + timedelta(seconds=self.session_s)
        session_arn = f"arn:aws:sts::{found[1]}:assumed-role/{found[2]}/{name}"
        self.keys[key_id] = Key(Caller(found[1], session_arn), secret, token, ends)
        self.secrets += [key_id, secret, token]
        credentials = {
            "AccessKeyId": key_id,
            "SecretAccessKey": secret,
            "SessionToken": token,
            "Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        user = {"AssumedRoleId": f"AROAEXAMPLE:{name}", "Arn": session_arn}
        return {"Credentials": credentials, "AssumedRoleUser": user}
