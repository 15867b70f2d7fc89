"""docs/runbooks.md: for every reason that a condition can have, where it stands, what it means and what to do.

Owns the list of reasons, from the tables that admission checks against. The words are in runbooks.yaml.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from controllers.api.endpoint import UNKNOWN_REASONS, EndpointReason
from controllers.api.reason import RECORD_SET_REASONS, ZONE_CLASS_REASONS, ZONE_REASONS
from controllers.api.record_withdrawal_reason import WAIVER_REASONS, WITHDRAWAL_REASONS
from controllers.providers.cloudflare.identity.resource import IDENTITY_CONDITIONS
from controllers.providers.route53.identity.resource import IDENTITY_REASONS
from controllers.registry import REGISTRATIONS
from tests.helm.place import CHART

WORDS: Final = Path(__file__).parent / "runbooks.yaml"
_HEAD: Final = """\
# Runbooks

What to do about a condition, by its reason, and about an alert. Reasons never change their meaning; the message beside them names the
object, the field or the server. This page is generated from the tables that admission checks conditions against
(`python -m tests.helm.generate`); [conditions.md](conditions.md) tells who gives which reason when.

First of all:

    kubectl get zones,recordsets -A -o wide
    kubectl describe zone NAME
    kubectl -n dns-api-system get pods,lease
    kubectl -n dns-api-system logs -l app.kubernetes.io/component=manager --tail=100

In doubt nothing is deleted: what is published stays published while something is unknown.
"""

Table = Mapping[tuple[Any, Any], Iterable[Any]]


def standings() -> dict[str, list[str]]:
    """Return every reason with the conditions that it stands in, as `Kind type=status`."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for kind, table in _tables():
        for (condition, status), reasons in table.items():
            for reason in reasons:
                found[str(reason)].append(f"{kind} {condition}={status}")
    return {reason: sorted(places) for reason, places in sorted(found.items())}


def _tables() -> Iterator[tuple[str, Table]]:
    yield "ZoneClass", ZONE_CLASS_REASONS
    yield "Zone", ZONE_REASONS
    yield "RecordSet", RECORD_SET_REASONS
    yield "RecordWithdrawal", WITHDRAWAL_REASONS
    yield "RecordWithdrawalWaiver", WAIVER_REASONS
    yield "CloudflareIdentity", IDENTITY_CONDITIONS
    yield "Route53Identity", IDENTITY_REASONS
    yield "EndpointRecordSet", _endpoint_table()
    yield from _provider_tables()


def _endpoint_table() -> Table:
    false = set(EndpointReason) - UNKNOWN_REASONS - {EndpointReason.RESOLVED}
    statuses = (("True", {EndpointReason.RESOLVED}), ("Unknown", UNKNOWN_REASONS), ("False", false))
    return {("Resolved", status): reasons for status, reasons in statuses}


def _provider_tables() -> Iterator[tuple[str, Table]]:
    """Reasons that a Provider adds to those of core."""
    for each in REGISTRATIONS:
        for version in each.provider_manifest()["spec"]["versions"]:
            for kind, part in (("Zone", "zone"), ("RecordSet", "recordSet")):
                for added in version.get(part, {}).get("additionalConditionReasons", ()):
                    yield kind, {(added["conditionType"], added["status"]): (added["reason"],)}


def words() -> dict[str, tuple[str, str]]:
    """Return meaning and remedy of every reason that there are words for."""
    loaded = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
    return {reason: (told["meaning"], told["do"]) for reason, told in loaded.items()}


def page() -> str:
    """Return the whole page."""
    told = words()
    lines = [_HEAD, "## Reasons", ""]
    for reason, places in standings().items():
        meaning, remedy = told[reason]
        stands = ", ".join(f"`{place}`" for place in places)
        lines += [f"### {reason}", "", f"{meaning}", "", f"- **Stands in** {stands}", f"- **Do** {remedy}", ""]
    lines += ["## Alerts", ""]
    for rule in _alerts():
        texts = rule["annotations"]
        lines += [f"### {rule['alert']}", "", texts["summary"], "", f"- **When** `{rule['expr']}`"]
        lines += [f"- **Do** {texts['description']}", ""]
    return "\n".join(lines)


def _alerts() -> Iterator[dict[str, Any]]:
    for path in sorted((CHART / "files" / "alerts").glob("*.yaml")):
        for group in yaml.safe_load(path.read_text(encoding="utf-8")):
            yield from group["rules"]
