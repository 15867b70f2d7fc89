"""Small builders of items and records for the pure tests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from controllers.api.zone_unit import UnitRecordSet
from controllers.providers.cloudflare.desired import Item, convert
from controllers.providers.cloudflare.observation import Observation
from controllers.providers.cloudflare.plan import ItemPlan, Known, plan_item
from controllers.providers.cloudflare.record import CloudflareRecord, parse_record
from zonemodel.name import Fqdn

DOMAIN = Fqdn("example.com")
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
GRACE = timedelta(seconds=60)


def item(kind: str, owner: str, body: dict[str, Any], **more: Any) -> Item:
    """One item of the ledger."""
    found = {
        "recordSetNamespace": "team",
        "recordSetName": more.pop("claim", f"{owner}-{kind}".lower()),
        "observedGeneration": 1,
        "name": owner,
        "type": kind,
        "ttl": 300,
        kind.lower(): body,
        **more,
    }
    return convert(UnitRecordSet.model_validate(found), DOMAIN)


def a(owner: str, *addresses: str, **more: Any) -> Item:
    return item("A", owner, {"addresses": list(addresses or ("192.0.2.1",))}, **more)


def cname(owner: str, target: str, **more: Any) -> Item:
    return item("CNAME", owner, {"target": target}, **more)


def ident(number: int) -> str:
    return f"{number:032x}"


def record(
    number: int, kind: str = "A", name: str = "www.example.com", content: str = "192.0.2.1", **more: Any
) -> CloudflareRecord:
    """One record as the API shows it."""
    return parse_record(
        {
            "id": ident(number),
            "type": kind,
            "name": name,
            "content": content,
            "ttl": 300,
            "proxied": False,
            "created_on": "2026-11-30T12:00:00Z",
            **more,
        }
    )


def observed(*records: CloudflareRecord, at: datetime = NOW) -> Observation:
    return Observation(records, at)


def plan(of: Item, records: Iterable[CloudflareRecord] = (), known: Known = Known(), at: datetime = NOW) -> ItemPlan:  # noqa: B008 - frozen
    return plan_item(of, known, observed(*records, at=at), GRACE)
