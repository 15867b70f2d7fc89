"""How commands on ownership end: what they print of what was done, or would be, and their exit status.

Owns the telling. Decides nothing, and reads no zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import typer

from cli.ownership.report import (
    Finding,
    Output,
    claim_table,
    dump,
    entry_document,
    fault_line,
    marker_document,
    marker_lines,
    owner_text,
)
from kube.quantity import counted
from ownership.entry import Entry
from ownership.legacy import Migrated, Migration, Restored
from ownership.naming import OwnerID
from ownership.release import Release, Released
from ownership.state import ZoneState

EXIT_AMBIGUOUS: Final = 1


def tell_migration(migration: Migration, state: ZoneState | None, done: Migrated | None, output: Output) -> None:
    """Print what was done or, without `done`, what would be; raises typer.Exit when something is ambiguous or left."""
    faults = state.faults if state is not None else ()
    left = done.left if done is not None else ""
    deleted = done.deleted if done is not None else 0
    if output is Output.JSON:
        document = {
            "dryRun": done is None,
            "moved": [marker_document(each) for each in migration.moved],
            "unclear": [marker_document(each) for each in migration.unclear],
            "deleted": deleted,
            "left": left or None,
        }
        typer.echo(dump(document))
    else:
        print_lines(marker_lines((*migration.moved, *migration.unclear)))
        verb = "would move" if done is None else "moved"
        print_lines(
            [
                f"{verb} {counted(len(migration.moved), 'marker')} into the snapshot, {len(migration.unclear)} unclear stay"
            ]
        )
        print_lines([f"left: {left}"] if left else [])
    print_lines(map(fault_line, faults), err=True)
    if left or faults or migration.unclear:
        raise typer.Exit(EXIT_AMBIGUOUS)


def tell_restoration(done: Restored, output: Output, *, dry_run: bool) -> None:
    if output is Output.JSON:
        entries = [entry_document(entry) for entry in done.entries]
        typer.echo(dump({"dryRun": dry_run, "restored": entries, "left": done.left or None}))
    else:
        print_lines(claim_table(done.entries))
        verb = "would restore" if dry_run else "restored"
        print_lines([f"{verb} {counted(len(done.entries), 'marker')}"])
        print_lines([f"left: {done.left}"] if done.left else [])
    if done.left:
        raise typer.Exit(EXIT_AMBIGUOUS)


def tell_release(done: Released, to: OwnerID | None, output: Output, *, dry_run: bool) -> None:
    plan = done.release
    if output is Output.JSON:
        document = {
            "dryRun": dry_run,
            "claims": [entry_document(entry) for entry in plan.entries],
            "markers": [marker_document(each) for each in plan.markers],
            "unclear": [marker_document(each) for each in plan.unclear],
            "to": to,
            "deleted": done.deleted,
            "left": done.left or None,
        }
        typer.echo(dump(document))
    else:
        print_lines([*claim_table(plan.entries), *marker_lines((*plan.markers, *plan.unclear))])
        print_lines([f"left: {done.left}"] if done.left else [_told_release(plan, to, dry_run=dry_run)])
    if done.left or plan.unclear:
        raise typer.Exit(EXIT_AMBIGUOUS)


def _told_release(plan: Release, to: OwnerID | None, *, dry_run: bool) -> str:
    verb = ("end" if dry_run else "ended") if to is None else ("hand over" if dry_run else "handed over")
    heir = f" to {owner_text(to)}" if to is not None else ""
    claims, markers = counted(len(plan.entries), "claim"), counted(len(plan.markers), "marker")
    return f"{'would ' * dry_run}{verb} {claims} and {markers}{heir}, {len(plan.unclear)} unclear stay; no record is deleted"


def summary(state: ZoneState, told: Sequence[Finding]) -> str:
    owners = ", ".join(
        f"{owner_text(owner)} {_claims(each.snapshot.entries)}" for owner, each in sorted(state.owners.items())
    )
    ambiguous = sum(finding.ambiguous for finding in told)
    return f"{state.zone}: {owners or 'no owner has published'}; {ambiguous} ambiguous, {counted(len(told) - ambiguous, 'note')}"


def _claims(entries: Sequence[Entry]) -> str:
    return f"with {counted(len(entries), 'claim')}"


def print_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Write lines; what others have put into the zone neither ends a line nor moves the cursor."""
    for line in lines:
        typer.echo("".join(each if each.isprintable() else ascii(each)[1:-1] for each in line), err=err)
