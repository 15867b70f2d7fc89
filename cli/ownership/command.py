"""`dns-api ownership`: who owns which records of a zone, and the moving of markers into snapshots and back.

Owns the commands and their exit codes. What is read, judged and written is decided in the package of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from cli.options.group import grouped
from cli.ownership.backend import BackendOptions, with_backend
from cli.ownership.progress import progress
from cli.ownership.report import (
    Finding,
    Output,
    claim_table,
    dump,
    entry_document,
    fault_line,
    finding_document,
    finding_line,
    marker_document,
    marker_lines,
    owner_text,
    state_document,
    state_table,
)
from cli.ownership.verify import findings
from cli.quantity import counted
from ownership.backends.protocol import Backend
from ownership.entry import Entry
from ownership.error import FormatError, OwnershipError
from ownership.legacy import (
    LegacyMarker,
    Migrated,
    Migration,
    Restored,
    fits_zone,
    markers_of,
    migrate,
    plan_migration,
    plan_restoration,
    read_markers,
    restore,
)
from ownership.naming import OwnerID, check_owner, quoted
from ownership.release import Release, Released, plan_release, release
from ownership.state import ZoneState, read_state
from zonemodel.name import Fqdn

EXIT_AMBIGUOUS: Final = 1

OutputOption = Annotated[Output, typer.Option("--output", "-o", help="Form of what is printed.")]
OwnerOption = Annotated[
    str, typer.Option(help="Owner ID; an empty one is the legacy owner, from before there were several.", metavar="ID")
]
OwnersOption = Annotated[
    list[str] | None,
    typer.Option("--owner", help="Owner whose own names to look at, too, where names cannot be listed.", metavar="ID"),
]
NamesOption = Annotated[
    list[str] | None,
    typer.Option("--name", help="Name whose markers to look at, instead of all of the zone's.", metavar="NAME"),
]
MarkersOption = Annotated[
    bool, typer.Option("--markers", help="Look at markers, too, where that takes a transfer of the zone.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Tell what would be done and write nothing.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(
        name="ownership", help="Tell and move who owns which records of a zone.", no_args_is_help=True
    )
    for command in (show, verify, migrate_command, restore_command, release_command):
        commands.command(command.__name__.removesuffix("_command"))(grouped(command))
    app.add_typer(commands)


def show(
    where: BackendOptions,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Show the claims to these names only.", metavar="NAME", show_default=False),
    ] = None,
    owner: OwnersOption = None,
    claims: Annotated[bool, typer.Option("--claims", help="Show every claim.")] = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show the owners of a zone, their revisions and what they claim.

    Exit status 0, 1 when the ownership of the zone cannot be told or read, 2 when the command line is wrong.
    """
    wanted = {name.lower().rstrip(".") for name in names or ()}

    async def read(backend: Backend) -> tuple[ZoneState, tuple[LegacyMarker, ...] | None]:
        state = await read_state(backend, _owners(owner))
        return state, await _markers(backend, wanted) if wanted or backend.enumerates else None

    with _refusals():
        state, markers = with_backend(where, read)
    entries = [
        entry
        for each in state.owners.values()
        for entry in each.snapshot.entries
        if entry.fqdn in wanted or (not wanted and (claims or output is Output.JSON))
    ]
    if output is Output.JSON:
        typer.echo(dump(state_document(state, sorted(entries), markers)))
    else:
        _print([*state_table(state), *claim_table(sorted(entries)), *marker_lines(markers or ())])
    if not state.may_delete:
        raise typer.Exit(EXIT_AMBIGUOUS)


def verify(
    where: BackendOptions,
    owner: OwnersOption = None,
    markers: MarkersOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Read everything that tells ownership in a zone, every page of it, and tell what is not as it should be.

    Exit status 0, 1 when something is ambiguous or cannot be read, 2 when the command line is wrong.
    """

    async def read(backend: Backend) -> tuple[ZoneState, tuple[LegacyMarker, ...]]:
        state = await read_state(backend, _owners(owner))
        return state, await _markers(backend, ()) if markers or backend.enumerates else ()

    with _refusals():
        state, found = with_backend(where, read)
    told = list(findings(state, found))
    ambiguous = any(finding.ambiguous for finding in told)
    if output is Output.JSON:
        document = {"zone": state.zone, "ambiguous": ambiguous, "findings": [finding_document(each) for each in told]}
        typer.echo(dump(document))
    else:
        _print(map(finding_line, told))
        _print([_summary(state, told)])
    if ambiguous:
        raise typer.Exit(EXIT_AMBIGUOUS)


def migrate_command(
    where: BackendOptions,
    owner: OwnerOption,
    name: NamesOption = None,
    dry_run: DryRunOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Move an owner's markers into its snapshot: copied, read back, and only then deleted.

    Markers that do not tell their record stay, and so do those of other owners.
    Exit status 0, 1 when something is ambiguous, fails or is left, 2 when the command line is wrong.
    """

    async def rehearse(backend: Backend) -> tuple[Migration, ZoneState]:
        state = await read_state(backend, (me,))
        state.snapshot_of(me)
        return plan_migration(await _markers(backend, name or ()), me), state

    async def work(backend: Backend) -> Migrated:
        with progress() as told:
            return await migrate(backend, me, await _markers(backend, name or ()), told)

    with _refusals():
        me = check_owner(owner)
        if dry_run:
            plan, state = with_backend(where, rehearse)
            _tell_migration(plan, state, None, output)
        else:
            done = with_backend(where, work)
            _tell_migration(done.migration, None, done, output)


def restore_command(
    where: BackendOptions, owner: OwnerOption, dry_run: DryRunOption = False, output: OutputOption = Output.TABLE
) -> None:
    """Write a marker for each of an owner's claims, read all of them back, and only then remove its snapshot.

    Exit status 0, 1 when something is ambiguous, fails or is left, 2 when the command line is wrong.
    """

    async def rehearse(backend: Backend) -> Restored:
        state = await read_state(backend, (me,))
        plan_restoration(state, me)
        snapshot = state.snapshot_of(me)
        return Restored(snapshot.entries if snapshot is not None else ())

    async def work(backend: Backend) -> Restored:
        with progress() as told:
            return await restore(backend, me, told)

    with _refusals():
        me = check_owner(owner)
        _tell_restoration(with_backend(where, rehearse if dry_run else work), output, dry_run=dry_run)


def release_command(
    where: BackendOptions,
    owner: OwnerOption,
    to: Annotated[
        str | None,
        typer.Option(help="Owner ID that claims from then on what this one claims.", metavar="ID", show_default=False),
    ] = None,
    markers: MarkersOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """End the claims of an owner that nobody is any more, or hand them to another one; the records themselves stay.

    Whatever still writes as this owner claims again at its next look. Markers that do not tell their record stay.
    Exit status 0, 1 when something is ambiguous, fails or is left, 2 when the command line is wrong.
    """

    async def found(backend: Backend) -> tuple[LegacyMarker, ...]:
        return await _markers(backend, ()) if markers or backend.enumerates else ()

    async def rehearse(backend: Backend) -> Released:
        state = await read_state(backend, (me,))
        return Released(plan_release(state, await found(backend), me))

    async def work(backend: Backend) -> Released:
        with progress() as told:
            return await release(backend, me, await found(backend), heir, told)

    with _refusals():
        me, heir = check_owner(owner), check_owner(to) if to is not None else None
        if me == heir:
            raise typer.BadParameter("found the owner itself, allowed is another one", param_hint="--to")
        done = with_backend(where, rehearse if dry_run else work)
        _tell_release(done, heir, output, dry_run=dry_run)


def _tell_migration(migration: Migration, state: ZoneState | None, done: Migrated | None, output: Output) -> None:
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
        _print(marker_lines((*migration.moved, *migration.unclear)))
        verb = "would move" if done is None else "moved"
        _print(
            [
                f"{verb} {counted(len(migration.moved), 'marker')} into the snapshot, {len(migration.unclear)} unclear stay"
            ]
        )
        _print([f"left: {left}"] if left else [])
    _print(map(fault_line, faults), err=True)
    if left or faults or migration.unclear:
        raise typer.Exit(EXIT_AMBIGUOUS)


def _tell_restoration(done: Restored, output: Output, *, dry_run: bool) -> None:
    if output is Output.JSON:
        entries = [entry_document(entry) for entry in done.entries]
        typer.echo(dump({"dryRun": dry_run, "restored": entries, "left": done.left or None}))
    else:
        _print(claim_table(done.entries))
        verb = "would restore" if dry_run else "restored"
        _print([f"{verb} {counted(len(done.entries), 'marker')}"])
        _print([f"left: {done.left}"] if done.left else [])
    if done.left:
        raise typer.Exit(EXIT_AMBIGUOUS)


def _tell_release(done: Released, to: OwnerID | None, output: Output, *, dry_run: bool) -> None:
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
        _print([*claim_table(plan.entries), *marker_lines((*plan.markers, *plan.unclear))])
        _print([f"left: {done.left}"] if done.left else [_told_release(plan, to, dry_run=dry_run)])
    if done.left or plan.unclear:
        raise typer.Exit(EXIT_AMBIGUOUS)


def _told_release(plan: Release, to: OwnerID | None, *, dry_run: bool) -> str:
    verb = ("end" if dry_run else "ended") if to is None else ("hand over" if dry_run else "handed over")
    heir = f" to {owner_text(to)}" if to is not None else ""
    claims, markers = counted(len(plan.entries), "claim"), counted(len(plan.markers), "marker")
    return f"{'would ' * dry_run}{verb} {claims} and {markers}{heir}, {len(plan.unclear)} unclear stay; no record is deleted"


async def _markers(backend: Backend, names: Iterable[str]) -> tuple[LegacyMarker, ...]:
    """Return the markers about some names, or all of the zone when none is given. Raises FormatError for a name of elsewhere."""
    wanted = [Fqdn(name.lower().rstrip(".")) for name in names]
    for name in wanted:
        if not fits_zone(name, backend.zone):
            allowed = f"allowed are full names in {backend.zone}, such as www.{backend.zone}"
            raise FormatError(f"found the name {quoted(name)}, {allowed}")
    return await markers_of(backend, wanted) if wanted else read_markers(await backend.list_markers())


def _summary(state: ZoneState, told: Sequence[Finding]) -> str:
    owners = ", ".join(
        f"{owner_text(owner)} {_claims(each.snapshot.entries)}" for owner, each in sorted(state.owners.items())
    )
    ambiguous = sum(finding.ambiguous for finding in told)
    return f"{state.zone}: {owners or 'no owner has published'}; {ambiguous} ambiguous, {counted(len(told) - ambiguous, 'note')}"


def _claims(entries: Sequence[Entry]) -> str:
    return f"with {counted(len(entries), 'claim')}"


def _owners(texts: Iterable[str] | None) -> list[OwnerID]:
    return [check_owner(text) for text in texts or ()]


def _print(lines: Iterable[str], *, err: bool = False) -> None:
    """Write lines; what others have put into the zone neither ends a line nor moves the cursor."""
    for line in lines:
        typer.echo("".join(each if each.isprintable() else ascii(each)[1:-1] for each in line), err=err)


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what cannot be told or done into a line on standard error and its exit code."""
    try:
        yield
    except OwnershipError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(EXIT_AMBIGUOUS) from error
