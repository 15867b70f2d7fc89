"""The `dns-api` command and its subcommands.

Owns their names. The module of a subcommand is imported only when it is the one called, so that a name server needs none of what the
others need and `dns-api get` starts quickly. Each module has `register(app)`, which adds its command.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType, ModuleType
from typing import Annotated, Final, NoReturn

import typer

from cli.options.command_line import CommandLine

COMMANDS: Final = {
    "up": ("cli.run.up", "Run API server, manager and name server in one process."),
    "apply": ("cli.objects.apply", "Apply manifests."),
    "plan": ("cli.plan.command", "Tell what manifests would do to zones, without writing."),
    "get": ("cli.objects.get", "List objects."),
    "describe": ("cli.objects.describe", "Show an object, its conditions and its events."),
    "delete": ("cli.objects.delete", "Delete objects."),
    "wait": ("cli.objects.wait", "Wait until objects are Programmed, or gone."),
    "events": ("cli.objects.events", "List events."),
    "zone": ("cli.zone.command", "Turn master files into manifests, and back."),
    "check-zone": ("cli.dns.check_zone", "Tell what is wrong in a master file."),
    "query": ("cli.dns.query", "Ask a name server, or compare two."),
    "verify": ("cli.dns.verify", "Tell whether servers answer with what a zone's claims say."),
    "doctor": ("cli.doctor.command", "Examine an installation and its zones, and say what to do."),
    "withdrawal": ("cli.withdrawal", "Tell which addresses may be given back, or waive the proof."),
    "ownership": ("cli.ownership.command", "Tell and move who owns which records of a zone."),
    "migrate": ("cli.migrate.command", "Take over what others keep in a zone."),
    "server": ("cli.run.server", "Run the name server alone."),
    "manager": ("cli.run.manager", "Run the controllers alone, against a cluster."),
}

INTERRUPTED: Final = 128 + signal.SIGINT
OWN_PACKAGES: Final = frozenset({"zonemodel", "ownership", "kube", "server", "controllers", "standalone", "cli"})


def build(called: str | None) -> typer.Typer:
    """Return the command with `called` at work and the others as lines of the help."""
    app = typer.Typer(
        name="dns-api",
        cls=CommandLine,
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # messages in one piece, which people search for and programs read
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_options)
    for name, (module, text) in COMMANDS.items():
        if name == called:
            _load(name, module).register(app)
        else:
            app.command(name, help=text)(_elsewhere)
    return app


def _tell_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # takes a while to import, and hardly anybody asks

        typer.echo(f"dns-api {version('dns-api')}")
        raise typer.Exit


def _options(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """DNS declared as Kubernetes resources, answered by an authoritative name server."""


def _load(name: str, module: str) -> ModuleType:
    """Import a command's module; says which extra brings what is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing in OWN_PACKAGES:
            raise
        typer.echo(f"error: dns-api {name} needs the package {missing}, which is not installed", err=True)
        typer.echo("  install what it needs with: pip install 'dns-api[standalone]'", err=True)
        raise SystemExit(1) from error


def _elsewhere() -> None:
    """Stand in the help for a command that is not the one called."""


def _end(signum: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + signum)


def _half_written() -> list[str]:
    """Return the words of a line that a shell asks to complete, nothing when none does."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:] if "_DNS_API_COMPLETE" in os.environ else []


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line of the process, or the one given."""
    if os.getpid() == 1:  # who is first in a container gets no signal that nobody handles yet
        signal.signal(signal.SIGTERM, _end)
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        build(next((word for word in words or _half_written() if not word.startswith("-")), None))(
            words, prog_name="dns-api"
        )
    except KeyboardInterrupt:  # before a command minds signals itself
        raise SystemExit(INTERRUPTED) from None
    except OSError as error:
        if not error.filename and error.errno != errno.ENOSPC:
            raise
        where = f"{error.filename}: " if error.filename else ""  # a file that nobody lets us use, or a full disk
        typer.echo(f"error: {where}{error.strerror}", err=True)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
