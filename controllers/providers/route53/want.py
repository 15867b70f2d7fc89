"""What the ledger asks for: each item as a record set of Route 53, or the fault that keeps it from being one.

Pure. Owns the defensive checks before anything is sent, and the cache of what was made of an item. Never looks at what is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from controllers.api.zone_unit import UnitRecordSet, ZoneUnit
from controllers.providers.route53.change import Action, Change
from controllers.providers.route53.payload import alias_target
from controllers.providers.route53.record import Record, RecordKey, alias_record, values_record
from controllers.providers.route53.value import write_values
from kube.object import ObjectKey
from zonemodel.name import Fqdn, OwnerName, object_to_length, owner_fqdn
from zonemodel.record import RecordType, bodies_present


@dataclass(frozen=True, slots=True)
class Want:
    """One item of the ledger; `record` is None exactly when there is a `fault`, which begins with the field below spec."""

    source: UnitRecordSet
    key: ObjectKey
    record_key: RecordKey
    record: Record | None
    fault: str = ""


Wants = tuple[Want, ...]


class WantCache:
    """The items of one zone's parts, made anew for those that have changed."""

    def __init__(self) -> None:
        self._domain = Fqdn("")
        self._known: dict[ObjectKey, Want] = {}

    def wants_of(self, parts: Iterable[ZoneUnit], domain: Fqdn) -> tuple[Wants, ...]:
        """Return each part's items in its order; the same objects as last time where nothing changed."""
        known = self._known if domain == self._domain else {}
        found: dict[ObjectKey, Want] = {}
        out: list[Wants] = []
        for part in parts:
            row: list[Want] = []
            for source in part.spec.record_sets:
                want = known.get(source.key)
                if want is None or want.source is not source:
                    want = make_want(source, domain)
                found[source.key] = want
                row.append(want)
            out.append(tuple(row))
        self._domain, self._known = domain, found
        return tuple(out)


def make_want(source: UnitRecordSet, domain: Fqdn) -> Want:
    """Return an item as a record set."""
    key = RecordKey(owner_fqdn(OwnerName(source.name), domain), source.type.value)
    try:
        record = _record(source, key, domain)
    except ValueError as error:
        return Want(source, source.key, key, None, str(error))
    return Want(source, source.key, key, record)


def _record(source: UnitRecordSet, key: RecordKey, domain: Fqdn) -> Record:
    """Raises ValueError, naming the field, for what must not be sent."""
    if objection := object_to_length(OwnerName(source.name), domain):
        raise ValueError(f"name: {objection}")
    if source.type is RecordType.NS and (source.name == "@" or source.name.startswith("*")):
        raise ValueError(f'name: found "{source.name}", allowed for NS: the name of a child zone')
    target = alias_target(source.options)
    if target is None:
        return _with_values(source, key)
    if source.type not in {RecordType.A, RecordType.AAAA}:
        raise ValueError(f"options.alias: found beside type {source.type}, allowed: types A and AAAA")
    for field in (*(each.field for each in bodies_present(source)), *(("ttl",) if source.ttl is not None else ())):
        raise ValueError(f"{field}: found beside options.alias, which allows neither TTL nor values")
    try:
        return alias_record(
            key, target.dns_name, target.hosted_zone_id, evaluate_target_health=target.evaluate_target_health
        )
    except ValueError as error:
        raise ValueError(f"options.alias.dnsName: {error}") from error


def _with_values(source: UnitRecordSet, key: RecordKey) -> Record:
    if source.ttl is None:
        raise ValueError("ttl: found nothing, allowed: seconds from 0 to 2147483647")
    try:
        values = write_values(source.type, source)
    except ValueError as error:
        text = str(error)
        raise ValueError(
            text if ":" in text and text.startswith(source.type.field) else f"{source.type.field}: {text}"
        ) from error
    record = values_record(key, source.ttl, values)
    size = Change(Action.CREATE, record, source.key).size
    if not size.fits:
        raise ValueError(
            f"{source.type.field}: found {size.values} values of {size.characters} characters, "
            "Route 53 takes 1,000 values and 32,000 characters at a time"
        )
    return record
