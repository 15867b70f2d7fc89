"""`dns-api check-zone`: what is wrong in a master file, before a server is told to serve it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kube.quantity import counted
from server.lint.check import Report, check_zone_file


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check-zone")(check_zone_command)


def check_zone_command(
    file: Annotated[Path, typer.Argument(help="Master file.", metavar="FILE", show_default=False)],
    origin: Annotated[
        str | None, typer.Option(help="Name of the zone, unless its SOA record tells.", metavar="NAME")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings, too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors and warnings.")] = False,
) -> None:
    """Load a master file as the server does, and tell what is wrong with it and what is seldom meant, each with its line.

    Exit status 0 when it can be served, 1 when there are errors (with --strict: or warnings), 2 when the command line is wrong.
    """
    report = check_zone_file(file, origin)
    for finding in report.findings:
        typer.echo(str(finding))
    if not quiet:
        typer.echo(summary(file, report))
    if report.errors or (strict and report.warnings):
        raise typer.Exit(1)


def summary(file: Path, report: Report) -> str:
    """Return the last line: what the file is and how it fares."""
    counts = f"{counted(report.errors, 'error')}, {counted(report.warnings, 'warning')}"
    if not report.zone:
        return f"{file}: {counts}"
    serial = "without a serial" if report.serial is None else f"serial {report.serial}"
    return f"{report.zone} {serial}, {counted(report.record_sets, 'record set')}: {counts}"
