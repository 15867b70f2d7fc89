"""`dns-api ownership`: who owns which records of a zone, and the moving of markers into snapshots and back.

Owns the commands. What is read, judged and written is decided in the package of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from cli.options.group import grouped
from cli.ownership.backend import BackendOptions, with_backend
from cli.ownership.outcome import (
    EXIT_AMBIGUOUS,
    print_lines,
    summary,
    tell_migration,
    tell_release,
    tell_restoration,
)
from cli.ownership.progress import progress
from cli.ownership.report import (
    Output,
    claim_table,
    dump,
    finding_document,
    finding_line,
    marker_lines,
    state_document,
    state_table,
)
from cli.ownership.verify import findings
from ownership.backends.protocol import Backend
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
from ownership.release import Released, rehearse_release, release
from ownership.state import ZoneState, read_state
from zonemodel.name import Fqdn

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
        print_lines([*state_table(state), *claim_table(sorted(entries)), *marker_lines(markers or ())])
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
        print_lines(map(finding_line, told))
        print_lines([summary(state, told)])
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
            tell_migration(plan, state, None, output)
        else:
            done = with_backend(where, work)
            tell_migration(done.migration, None, done, output)


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
        tell_restoration(with_backend(where, rehearse if dry_run else work), output, dry_run=dry_run)


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
        return Released(await rehearse_release(backend, me, await found(backend), heir))

    async def work(backend: Backend) -> Released:
        with progress() as told:
            return await release(backend, me, await found(backend), heir, told)

    with _refusals():
        me, heir = check_owner(owner), check_owner(to) if to is not None else None
        if me == heir:
            raise typer.BadParameter("found the owner itself, allowed is another one", param_hint="--to")
        done = with_backend(where, rehearse if dry_run else work)
        tell_release(done, heir, output, dry_run=dry_run)


async def _markers(backend: Backend, names: Iterable[str]) -> tuple[LegacyMarker, ...]:
    """Return the markers about some names, or all of the zone when none is given. Raises FormatError for a name of elsewhere."""
    wanted = [Fqdn(name.lower().rstrip(".")) for name in names]
    for name in wanted:
        if not fits_zone(name, backend.zone):
            allowed = f"allowed are full names in {backend.zone}, such as www.{backend.zone}"
            raise FormatError(f"found the name {quoted(name)}, {allowed}")
    return await markers_of(backend, wanted) if wanted else read_markers(await backend.list_markers())


def _owners(texts: Iterable[str] | None) -> list[OwnerID]:
    return [check_owner(text) for text in texts or ()]


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what cannot be told or done into a line on standard error and its exit code."""
    try:
        yield
    except OwnershipError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(EXIT_AMBIGUOUS) from error
