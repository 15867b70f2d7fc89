"""Who may use what across namespaces: `allowedZones` of a class, `allowedRecordSets` of a zone.

A namespace whose labels are not known is let in by nothing that asks for labels, not even for their absence: it waits. Patterns come from
tenants and are evaluated by RE2, which is linear in its input. Messages are coarse on purpose: they never
carry selectors, labels, patterns or positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.reference import selects
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone import AllowedRecordSets, RecordGrant, Zone
from controllers.api.zone_class import NamespacesFrom, ZoneClass
from controllers.core.pattern import Pattern, PatternError

NAMESPACE_DENIED: Final = "RecordSet namespace is not allowed by the referenced Zone."
NAME_DENIED: Final = "RecordSet name is not allowed by the referenced Zone."
TYPE_DENIED: Final = "RecordSet type is not allowed for this RecordSet name by the referenced Zone."
CLASS_DENIED: Final = "Zone namespace is not allowed by the referenced ZoneClass."


def judge_zone_grant(zone: Zone, zone_class: ZoneClass, labels: Mapping[str, str] | None) -> Verdict:
    """Say whether the class lets Zones of this namespace in; `labels` are those of the Zone's namespace, None when they are unknown."""
    allowed = zone_class.spec.allowed_zones.namespaces
    match allowed.from_:
        case NamespacesFrom.ALL:
            return ACCEPTED
        case NamespacesFrom.SAME:
            granted = zone.meta.namespace == zone_class.meta.namespace
        case NamespacesFrom.SELECTOR if labels is None:
            return _unknown(zone.meta.namespace)
        case NamespacesFrom.SELECTOR:
            granted = allowed.selector is not None and selects(allowed.selector, labels)
    return ACCEPTED if granted else refused(Reason.NOT_ALLOWED_BY_ZONE_CLASS, CLASS_DENIED)


def judge_record_set_grant(claim: RecordSet, zone: Zone, labels: Mapping[str, str] | None) -> Verdict:
    """Say whether the Zone lets this RecordSet in; its own namespace needs no grant.

    `labels` are those of the claim's namespace, None when they are unknown.
    """
    if claim.meta.namespace == zone.meta.namespace:
        return ACCEPTED
    if labels is None:
        return _unknown(claim.meta.namespace)
    return judge_granted(zone, labels, claim.spec.name, claim.spec.type)


def judge_granted(zone: Zone, labels: Mapping[str, str], name: str, record_type: str) -> Verdict:
    """Say whether one of the Zone's grants gives a namespace with these labels a name and type."""
    grants = [grant for grant in zone.spec.allowed_record_sets if _speaks_to(grant, labels)]
    if not grants:
        return refused(Reason.NOT_ALLOWED_BY_ZONE, NAMESPACE_DENIED)
    named = [record for grant in grants for record in grant.records if _covers_name(record, name)]
    if not named:
        return refused(Reason.NOT_ALLOWED_BY_ZONE, NAME_DENIED)
    if not any(record_type in record.types for record in named):
        return refused(Reason.NOT_ALLOWED_BY_ZONE, TYPE_DENIED)
    return ACCEPTED


def _unknown(namespace: str) -> Verdict:
    return waiting(Reason.RECONCILING, f"Waiting until the labels of namespace {namespace} are known.")


def _speaks_to(grant: AllowedRecordSets, labels: Mapping[str, str]) -> bool:
    selector = grant.namespaces.selector
    empty = not selector.match_labels and not selector.match_expressions
    return not empty and selects(selector, labels)


def _covers_name(record: RecordGrant, name: str) -> bool:
    pattern = _compile(record.name.pattern)
    return pattern is not None and pattern.matches(name)


@lru_cache(maxsize=1024)
def _compile(text: str) -> Pattern | None:
    """Return the compiled pattern, or None (which grants nothing) for one that admission would have refused."""
    try:
        return Pattern(text)
    except PatternError:
        return None
