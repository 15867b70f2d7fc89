"""Checks a master file by all rules, and at last the way the server loads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server import rdtype
from server.lint import delegation, denial, structure, target, timing
from server.lint.content import Content, read_content
from server.lint.finding import Finding, Severity, error
from server.text import name_text
from server.zone.compile import compile_zone
from server.zone.judge import judge_zone
from zonemodel.zone_error import Place, ZoneFileError
from zonemodel.zonefile import read_zone_file

Rule = Callable[[Content], Iterator[Finding]]

RULES: Final[tuple[Rule, ...]] = (
    structure.nothing_outside,
    structure.one_of_a_kind,
    structure.aliases_stand_alone,
    structure.nothing_below_dnames,
    structure.sets_fit_messages,
    structure.no_duplicates,
    structure.one_ttl_a_set,
    structure.no_odd_wildcards,
    delegation.apex_has_name_servers,
    delegation.name_servers_are_no_aliases,
    delegation.name_servers_have_addresses,
    delegation.nothing_hidden_by_delegations,
    delegation.ds_stands_at_delegations,
    target.hosts_are_no_aliases,
    target.hosts_have_addresses,
    target.aliases_lead_somewhere,
    target.names_are_complete,
    timing.soa_times_fit_together,
    timing.signatures_are_good_yet,
    denial.few_iterations,
)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, in the order of the file, and what the zone is where that could be read."""

    findings: tuple[Finding, ...]
    zone: str = ""
    serial: int | None = None
    record_sets: int = 0

    @property
    def errors(self) -> int:
        return sum(each.severity is Severity.ERROR for each in self.findings)

    @property
    def warnings(self) -> int:
        return sum(each.severity is Severity.WARNING for each in self.findings)


def check_zone_file(path: Path, origin: str | None) -> Report:
    """Check one file; `origin` is the apex, without it the owner of the SOA record is."""
    try:
        content = read_content(path, origin)
    except ZoneFileError as fault:
        return Report((error(Place(fault.file, fault.line), fault.message),))
    soa = content.sets.get((content.origin, rdtype.SOA))
    findings = [finding for rule in RULES for finding in rule(content)]
    if all(each.severity is not Severity.ERROR for each in findings):
        findings += _objection_of_the_server(path, origin, Place(str(path), 1) if soa is None else soa[0].place)
    serial = None if soa is None else int.from_bytes(soa[0].rdata[-20:-16], "big")
    return Report(tuple(sorted(findings, key=_order)), name_text(content.origin), serial, len(content.sets))


def _objection_of_the_server(path: Path, origin: str | None, beginning: Place) -> Iterator[Finding]:
    """What no line is to blame for is told where the zone begins."""
    try:
        compile_zone(judge_zone(read_zone_file(path, origin)))
    except ZoneFileError as fault:
        yield error(Place(fault.file, fault.line), fault.message)
    except ValueError as fault:
        yield error(beginning, str(fault))


def _order(finding: Finding) -> tuple[str, int, str]:
    return finding.place.file, finding.place.line, finding.message
