"""What the fake keeps: accounts, tokens, zones and their records, and the verbs that change them.

Stateful and strict. Every verb raises ApiError where Cloudflare would refuse; a batch takes effect as a whole or not at all.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.controllers.providers.cloudflare.fake.failure import (
    NO_RECORD,
    NO_ROUTE,
    NO_ZONE,
    QUOTA,
    UNAUTHORIZED,
    ApiError,
)
from tests.controllers.providers.cloudflare.fake.record import (
    Record,
    TextForm,
    checked,
    merged,
    moment,
    refuse_conflict,
    shown,
)

ID_DIGITS = 32
BATCH_LIMITS = {"free": 200, "pro": 3500, "business": 3500, "enterprise": 3500}
TAG_LIMITS = {"free": 0, "pro": 20, "business": 20, "enterprise": 20}
RECORD_QUOTAS = {"free": 200, "pro": 3500, "business": 3500, "enterprise": 3500}


def new_id() -> str:
    return secrets.token_hex(ID_DIGITS // 2)


def in_unicode(name: str) -> str:
    """Return the form that zones are kept, shown and found in, whichever they were made with."""
    return name.encode("idna").decode("idna")


@dataclass
class Token:
    """An API token and what it may see."""

    accounts: list[str]
    id: str = field(default_factory=new_id)
    status: str = "active"
    expires_on: str | None = None
    not_before: str | None = None
    may_write: bool = True


@dataclass
class State:
    """Everything in the fake; `text_form` is how TXT contents read back, `plan` is that of new zones."""

    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    zones: dict[str, dict[str, Any]] = field(default_factory=dict)
    records: dict[str, dict[str, Record]] = field(default_factory=dict)
    plan: str = "pro"
    text_form: TextForm = TextForm.QUOTED
    new_zone_status: str = "pending"
    quotas: dict[str, int] = field(default_factory=lambda: dict(RECORD_QUOTAS))
    new_id: Callable[[], str] = new_id
    alter: Callable[[Record], None] = lambda _: None
    """What the service makes of a record that it takes."""
    unlisted: set[str] = field(default_factory=set)
    """Identifiers of records that are there and that listings lack."""

    def add_account(self, name: str = "Example Inc.") -> str:
        account: dict[str, Any] = {
            "id": self.new_id(),
            "name": name,
            "type": "standard",
            "created_on": moment(),
            "settings": {"enforce_twofactor": False},
        }
        self.accounts[account["id"]] = account
        return str(account["id"])

    def add_token(self, text: str, *accounts: str) -> Token:
        token = self.tokens[text] = Token(list(accounts))
        return token

    def add_zone(self, account: str, name: str, *, kind: str = "full", status: str | None = None) -> str:
        """Put a zone there as a person would; returns its identifier."""
        found = self.accounts[account]
        servers = [] if kind != "full" else [f"{who}.ns.cloudflare.test" for who in ("ada", "bob")]
        zone: dict[str, Any] = {
            "id": self.new_id(),
            "name": in_unicode(name),
            "status": status or self.new_zone_status,
            "paused": False,
            "type": kind,
            "development_mode": 0,
            "name_servers": servers,
            "original_name_servers": None,
            "original_registrar": None,
            "original_dnshost": None,
            "modified_on": moment(),
            "created_on": moment(),
            "activated_on": None,
            "meta": {"step": 2, "custom_certificate_quota": 0, "page_rule_quota": 3, "phishing_detected": False},
            "owner": {"id": None, "type": "user", "email": None},
            "account": {"id": account, "name": found["name"]},
            "tenant": {"id": None, "name": None},
            "tenant_unit": {"id": None},
            "permissions": ["#dns_records:edit", "#zone:read"],
            "plan": {"id": self.new_id(), "name": f"{self.plan} plan", "price": 0, "legacy_id": self.plan},
        }
        self.zones[zone["id"]] = zone
        self.records[zone["id"]] = {}
        return str(zone["id"])

    def add_record(self, zone_id: str, **body: Any) -> str:
        """Put a record there as a person would; returns its identifier."""
        return str(self._post(zone_id, self.records[zone_id], body)["id"])

    def list_zones(self, token: Token, name: str | None, account: str | None) -> list[dict[str, Any]]:
        return [
            zone
            for zone in self.zones.values()
            if zone["account"]["id"] in token.accounts
            and name in (None, zone["name"])
            and account in (None, zone["account"]["id"])
        ]

    def zone(self, token: Token, zone_id: str) -> dict[str, Any]:
        if len(zone_id) != ID_DIGITS:
            raise NO_ROUTE
        zone = self.zones.get(zone_id)
        if zone is None:
            raise NO_ZONE
        if zone["account"]["id"] not in token.accounts:
            raise UNAUTHORIZED
        return zone

    def create_zone(self, token: Token, body: dict[str, Any]) -> dict[str, Any]:
        account, name = body.get("account", {}).get("id"), body.get("name")
        if not token.may_write or account not in token.accounts:
            raise ApiError(403, 0, 'Requires permission "com.cloudflare.api.account.zone.create"')
        if not isinstance(name, str) or "." not in name:
            raise ApiError(400, 1049, f"{name} is not a registered domain")
        if any(zone["name"] == in_unicode(name) and zone["account"]["id"] == account for zone in self.zones.values()):
            raise ApiError(400, 1061, f"{name} already exists")
        if body.get("jump_start"):
            raise AssertionError("jump_start imports records that nobody declared")
        return self.zones[self.add_zone(account, name, kind=body.get("type", "full"))]

    def delete_zone(self, token: Token, zone_id: str) -> dict[str, Any]:
        self.zone(token, zone_id)
        if not token.may_write:
            raise UNAUTHORIZED
        del self.zones[zone_id], self.records[zone_id]
        return {"id": zone_id}

    def list_records(self, token: Token, zone_id: str) -> list[Record]:
        self.zone(token, zone_id)
        return [
            shown(each, self.text_form) for each in self.records[zone_id].values() if each["id"] not in self.unlisted
        ]

    def record(self, token: Token, zone_id: str, record_id: str) -> Record:
        self.zone(token, zone_id)
        if record_id not in self.records[zone_id]:
            raise NO_RECORD
        return shown(self.records[zone_id][record_id], self.text_form)

    def batch(self, token: Token, zone_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Delete, patch, put and post, in this order, all or nothing."""
        zone = self.zone(token, zone_id)
        if not token.may_write:
            raise UNAUTHORIZED
        count = sum(len(body.get(verb) or ()) for verb in ("deletes", "patches", "puts", "posts"))
        if count > BATCH_LIMITS[zone["plan"]["legacy_id"]]:
            raise ApiError(400, 9207, f"Batch has {count} operations, more than the plan allows.")
        draft = {key: dict(record) for key, record in self.records[zone_id].items()}
        result: dict[str, Any] = dict.fromkeys(("deletes", "patches", "puts", "posts"))
        for verb, outcome in self._batch(zone_id, draft, body):
            result[verb] = [*(result[verb] or ()), shown(outcome, self.text_form)]
        self.records[zone_id] = draft
        return result

    def _batch(self, zone_id: str, draft: dict[str, Record], body: dict[str, Any]) -> Iterator[tuple[str, Record]]:
        for each in body.get("deletes") or ():
            if each.get("id") not in draft:
                raise NO_RECORD
            yield "deletes", draft.pop(each["id"])
        for verb in ("patches", "puts"):
            for each in body.get(verb) or ():
                before = draft.get(each.get("id"))
                if before is None:
                    raise NO_RECORD
                source = merged(before, each) if verb == "patches" else each
                yield verb, self._put(zone_id, draft, before, source)
        for each in body.get("posts") or ():
            yield "posts", self._post(zone_id, draft, each)

    def _put(self, zone_id: str, draft: dict[str, Record], before: Record, body: Record) -> Record:
        kept = self._kept(zone_id, body)
        refuse_conflict(kept, [record for key, record in draft.items() if key != before["id"]])
        own = {key: before[key] for key in ("id", "meta", "created_on")}
        draft[before["id"]] = record = {**own, **kept, "modified_on": moment()}
        return record

    def _post(self, zone_id: str, draft: dict[str, Record], body: Record) -> Record:
        zone = self.zones[zone_id]
        kept = self._kept(zone_id, body)
        refuse_conflict(kept, list(draft.values()))
        if len(draft) >= self.quotas[zone["plan"]["legacy_id"]]:
            raise QUOTA
        now = moment()
        record = {"id": self.new_id(), "meta": {}, "created_on": now, "modified_on": now, **kept}
        draft[record["id"]] = record
        return record

    def _kept(self, zone_id: str, body: Record) -> Record:
        zone = self.zones[zone_id]
        record = checked(body, zone["name"].encode("idna").decode(), tags_allowed=TAG_LIMITS[zone["plan"]["legacy_id"]])
        self.alter(record)
        return record
