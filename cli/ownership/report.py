"""What `dns-api ownership` tells: tables for people, one JSON document for programs.

Owns words and fields. Decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cli.table import Layout
from ownership.entry import Entry
from ownership.legacy import LegacyMarker
from ownership.member import Member
from ownership.naming import OwnerID
from ownership.state import Fault, OwnerState, ZoneState


class Output(StrEnum):
    """The forms of `-o`."""

    TABLE = "table"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a zone that is not as it should be; `ambiguous` when it keeps ownership from being told."""

    ambiguous: bool
    reason: str
    owner: OwnerID | None
    detail: str


def owner_text(owner: OwnerID | None) -> str:
    """Return an owner ID as people see it: the empty one and the unknown one have words."""
    if owner is None:
        return "(unknown)"
    return owner or "(legacy)"


def state_table(state: ZoneState) -> list[str]:
    """Return the owners of a zone as lines, then what is ambiguous."""
    rows: list[tuple[str, ...]] = [("OWNER", "REVISION", "CLAIMS", "PAGES", "SUPERSEDED", "DIGEST")]
    for owner, each in sorted(state.owners.items()):
        manifest = each.chain.selected.manifest
        counts = (
            str(number)
            for number in (manifest.revision, manifest.entries, len(manifest.pages), len(each.chain.predecessors))
        )
        rows.append((owner_text(owner), *counts, each.chain.selected.digest[:12]))
    lines = Layout().lines(rows) if len(rows) > 1 else [f"{state.zone}: no owner has published"]
    return [*lines, *(fault_line(fault) for fault in state.faults)]


def claim_table(entries: Iterable[Entry]) -> list[str]:
    """Return claims as lines, none when there are none."""
    rows = [("NAME", "TYPE", "OWNER", "TARGET")]
    rows += [(entry.fqdn, entry.type, owner_text(entry.owner), target_text(entry.marker.member)) for entry in entries]
    return Layout().lines(rows) if len(rows) > 1 else []


def marker_lines(markers: Iterable[LegacyMarker]) -> list[str]:
    """Return markers as lines: what each claims, or why that cannot be told."""
    rows = []
    for marker in markers:
        claim = marker.claim
        if isinstance(claim, Entry):
            rows.append(
                (
                    "marker",
                    marker.text.name,
                    owner_text(claim.owner),
                    f"{claim.type} {target_text(claim.marker.member)}",
                )
            )
        else:
            rows.append(("unclear", marker.text.name, owner_text(claim.owner), claim.reason))
    return Layout().lines(rows)


def fault_line(fault: Fault) -> str:
    """Return an ambiguity as a line."""
    return f"ambiguous: {fault}"


def finding_line(finding: Finding) -> str:
    """Return a finding as a line."""
    return f"{'ambiguous' if finding.ambiguous else 'note'}: {finding.reason}: owner {owner_text(finding.owner)}: {finding.detail}"


def state_document(
    state: ZoneState, entries: Sequence[Entry], markers: Sequence[LegacyMarker] | None
) -> dict[str, Any]:
    """Return a zone's state as JSON values; `markers` is absent where nobody looked for any."""
    document: dict[str, Any] = {
        "zone": state.zone,
        "mayDelete": state.may_delete,
        "owners": [_owner(owner, each) for owner, each in sorted(state.owners.items())],
        "claims": [entry_document(entry) for entry in entries],
        "faults": [{"reason": each.reason, "owner": each.owner, "detail": each.detail} for each in state.faults],
    }
    if markers is not None:
        document["markers"] = [marker_document(marker) for marker in markers]
    return document


def entry_document(entry: Entry) -> dict[str, Any]:
    """Return a claim as JSON values."""
    member = entry.marker.member
    return {
        "name": entry.fqdn,
        "type": member.type,
        "owner": entry.owner,
        "target": target_text(member),
        "metadata": dict(entry.marker.metadata),
    }


def marker_document(marker: LegacyMarker) -> dict[str, Any]:
    """Return a marker as JSON values."""
    found: dict[str, Any] = {"at": marker.text.name, "owner": marker.owner}
    if isinstance(marker.claim, Entry):
        return found | {"claim": entry_document(marker.claim)}
    return found | {"unclear": marker.claim.reason}


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON values."""
    return {
        "ambiguous": finding.ambiguous,
        "reason": finding.reason,
        "owner": finding.owner,
        "detail": finding.detail,
    }


def target_text(member: Member) -> str:
    """Return the data of a record as a master file has them, as far as the marker tells."""
    if member.srv is not None:
        return f"{member.srv.priority} {member.srv.weight} {member.srv.port} {member.target}"
    if member.https is not None:
        alpn = f" alpn={member.https.alpn}" if member.https.alpn else ""
        return f"{member.https.priority} {member.https.target_name}{alpn}"
    return member.target


def dump(document: dict[str, Any]) -> str:
    """Return JSON values as text."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def _owner(owner: OwnerID, state: OwnerState) -> dict[str, Any]:
    selected = state.chain.selected
    return {
        "owner": owner,
        "revision": selected.manifest.revision,
        "digest": selected.digest,
        "claims": selected.manifest.entries,
        "pages": list(selected.manifest.pages),
        "superseded": [each.manifest.revision for each in state.chain.predecessors],
    }
