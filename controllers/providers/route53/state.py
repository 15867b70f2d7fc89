"""What the provider notes down for itself in the ledger: `status.provider.state`, and `state` beside each result.

Owns the JSON and its reading. A note that cannot be read counts as not there: then nothing is known, and nothing is taken for ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from controllers.providers.route53.record import RecordKey


class ZoneOperation(StrEnum):
    """What is under way with a hosted zone."""

    CREATE = "CreateHostedZone"
    DELETE = "DeleteHostedZone"


@dataclass(frozen=True, slots=True)
class ZoneChange:
    """A hosted zone's change that Route 53 has not spread to all its servers yet."""

    operation: ZoneOperation
    hosted_zone_id: str
    change_id: str


@dataclass(frozen=True, slots=True)
class Notes:
    """About the ledger as a whole.

    `caller_reference` is what a hosted zone is, or is about to be, created with; it never leaves this state. `hosted_zone_id` is the
    one that the ledger is programmed in, `account` where, and `created` whether it is our making.
    """

    caller_reference: str | None = None
    hosted_zone_id: str | None = None
    account: str | None = None
    created: bool = False
    zone_change: ZoneChange | None = None
    record_changes: tuple[str, ...] = ()

    def dump(self) -> dict[str, Any]:
        """Return the JSON object."""
        out: dict[str, Any] = {}
        if self.caller_reference is not None:
            out["callerReference"] = self.caller_reference
        if self.hosted_zone_id is not None:
            out["hostedZone"] = {"id": self.hosted_zone_id, "account": self.account, "created": self.created}
        if self.zone_change is not None:
            change = self.zone_change
            out["pendingHostedZoneChange"] = {
                "operation": change.operation.value,
                "hostedZoneID": change.hosted_zone_id,
                "changeID": change.change_id,
            }
        if self.record_changes:
            out["pendingRecordSetChange"] = {"changeIDs": list(self.record_changes)}
        return out


def read_notes(state: Mapping[str, Any] | None) -> Notes:
    """Return the notes in a part 0."""
    state = state or {}
    zone, change, records = (
        _object(state.get(name)) for name in ("hostedZone", "pendingHostedZoneChange", "pendingRecordSetChange")
    )
    ids = records.get("changeIDs")
    return Notes(
        caller_reference=_text(state.get("callerReference")),
        hosted_zone_id=_text(zone.get("id")),
        account=_text(zone.get("account")),
        created=zone.get("created") is True,
        zone_change=_read_zone_change(change),
        record_changes=tuple(each for each in ids if isinstance(each, str)) if isinstance(ids, list) else (),
    )


def _read_zone_change(change: Mapping[str, Any]) -> ZoneChange | None:
    operation = next((each for each in ZoneOperation if each.value == change.get("operation")), None)
    zone_id, change_id = _text(change.get("hostedZoneID")), _text(change.get("changeID"))
    if operation is None or zone_id is None or change_id is None:
        return None
    return ZoneChange(operation, zone_id, change_id)


@dataclass(frozen=True, slots=True)
class Mark:
    """About one record set: that it is ours in a hosted zone, by name and type.

    With an `intent` it is ours only if it is the record set with that fingerprint: it was about to be created when this was noted, and
    nothing more is known. `change` is the change that wrote it last, while it is under way.
    """

    hosted_zone_id: str
    key: RecordKey
    intent: str | None = None
    change: str | None = None

    def dump(self) -> dict[str, Any]:
        """Return the JSON object."""
        out: dict[str, Any] = {"hostedZoneID": self.hosted_zone_id, "name": self.key.name, "type": self.key.type}
        if self.intent is not None:
            out["intent"] = self.intent
        if self.change is not None:
            out["change"] = self.change
        return out


def read_mark(state: Mapping[str, Any] | None) -> Mark | None:
    """Return the mark in an entry, None when it has none."""
    state = state or {}
    zone, name, kind = (_text(state.get(member)) for member in ("hostedZoneID", "name", "type"))
    if zone is None or name is None or kind is None:
        return None
    return Mark(zone, RecordKey(name, kind), _text(state.get("intent")), _text(state.get("change")))


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
