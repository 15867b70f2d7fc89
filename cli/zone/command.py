"""`dns-api zone`: master files in, as manifests, and out again.

Owns options, files and exit codes. What is imported and exported is decided elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.api.connection import Context, Kubeconfig, Namespace
from cli.options.reference import object_name, provider_ref
from cli.zone.claim import ImportRefusedError, Target
from cli.zone.exporting import Choice, ExportRefusedError, export_zone
from cli.zone.importing import domain_of, import_zone
from cli.zone.manifest import Format, Manifest, ManifestError, dump, load
from cli.zone.name import zone_object_name
from cli.zone.report import apex_lines, comment, report
from cli.zone.source import ZoneQuery, read_zone_objects
from controllers.api.reference import NamespacedRef
from zonemodel.zonefile import ZoneFileError, read_zone_file, write_zone_file

HOSTED_PROVIDER: Final = "hosted.dns.appthrust.io/v1alpha1"

EXIT_REFUSED: Final = 1
EXIT_LEFT_OUT: Final = 3

_IMPORT_HELP: Final = (
    "Turn a master file (RFC 1035) into a Zone and its RecordSets.\n\n"
    "Everything that RecordSets cannot hold is listed on standard error with its reason. SOA and apex NS belong to the ZoneClass: "
    "they are printed as its parameters, in a comment of the YAML and on standard error.\n\n"
    "Exit codes: 0 everything is held; 1 the file or the zone is refused; 2 wrong options; 3 some record sets are left out. "
    "With --strict nothing is written when a record set is left out or changed."
)
_EXPORT_HELP: Final = (
    "Write a Zone and its RecordSets as a master file (RFC 1035).\n\n"
    "Name servers and SOA come from --name-server, else from the HostedZone, the ZoneClass's parameters or the Zone's status.\n\n"
    "Exit codes: 0 everything is written; 1 the manifests are refused; 2 wrong options; 3 some objects are no part of the file."
)


ReadObjects = Callable[[ZoneQuery], Sequence[Manifest]]
"""Returns a Zone and what belongs to it; raises ManifestError."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(zone_app(read_zone_objects))


def zone_app(read_objects: ReadObjects) -> typer.Typer:
    """Return the commands; `read_objects` is where export finds a Zone that it is given no manifests of."""
    commands = typer.Typer(name="zone", help="Turn master files into manifests, and back.", no_args_is_help=True)
    commands.command("import", help=_IMPORT_HELP)(import_command)

    @commands.command("export", help=_EXPORT_HELP)
    def export_command(
        sources: Annotated[
            list[str] | None,
            typer.Argument(help="Files or folders of manifests, - for standard input.", metavar="FILE|DIR|-"),
        ] = None,
        zone: Annotated[
            str | None, typer.Option(help="Name of the Zone; needed for the API, and among several.")
        ] = None,
        namespace: Namespace = None,
        name_server: Annotated[
            list[str] | None, typer.Option(help="Name server of the zone instead of those that the objects tell.")
        ] = None,
        serial: Annotated[
            int | None, typer.Option(min=0, max=2**32 - 1, help="SOA serial, by default the served one or the time.")
        ] = None,
        output: Annotated[Path | None, typer.Option(help="File to write instead of standard output.")] = None,
        kubeconfig: Kubeconfig = None,
        context: Context = None,
    ) -> None:
        choice = Choice(zone, namespace, tuple(name_server or ()), serial)
        with _refusals():
            manifests = load(sources) if sources else _read_api(choice, kubeconfig, context, read_objects)
            found = export_zone(manifests, choice, int(time.time()))
            _write(write_zone_file(found.zone), output)
        for line in found.left_out:
            typer.echo(f"left out: {line}", err=True)
        raise typer.Exit(EXIT_LEFT_OUT if found.left_out else 0)

    return commands


def import_command(
    file: Annotated[Path, typer.Argument(help="Master file.", metavar="FILE")],
    origin: Annotated[str | None, typer.Option(help="Apex of the zone, by default the owner of its SOA.")] = None,
    zone_class: Annotated[str, typer.Option(help="ZoneClass that provides the zone.")] = "hosted",
    zone_class_namespace: Annotated[str | None, typer.Option(help="Namespace of the ZoneClass.")] = None,
    with_zone_class: Annotated[
        bool, typer.Option("--with-zone-class", help="Write the ZoneClass too, made from SOA and NS (hosted provider).")
    ] = False,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Namespace of the manifests.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the Zone object, by default the domain name.")] = None,
    provider: Annotated[str, typer.Option(help="Provider and version.", metavar="NAME/VERSION")] = HOSTED_PROVIDER,
    form: Annotated[Format, typer.Option("--format", "-o", help="Form of the manifests.")] = Format.YAML,
    output: Annotated[Path | None, typer.Option(help="File to write instead of standard output.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many RecordSets, the first ones.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing unless everything is held as it is.")] = False,
) -> None:
    """Import a master file; the help of the command says what comes out."""
    with _refusals():
        zone = read_zone_file(file, origin)
        zone_name = name or zone_object_name(domain_of(zone))
        target = Target(
            object_name(zone_name, "--name"),
            namespace,
            NamespacedRef(namespace=zone_class_namespace, name=object_name(zone_class, "--zone-class")),
            provider_ref(provider, HOSTED_PROVIDER),
            with_zone_class,
        )
        found = import_zone(zone, target, limit)
        for line in (*zone.warnings, *apex_lines(found, target.zone_class), *report(found)):
            typer.echo(line, err=True)
        if strict and not found.is_exact:
            typer.echo("nothing is written because of --strict", err=True)
            raise typer.Exit(EXIT_LEFT_OUT)
        _write(dump(found.manifests, form, comment(found, file.name, target.zone_class)), output)
    raise typer.Exit(EXIT_LEFT_OUT if found.left_out else 0)


def _read_api(
    choice: Choice, kubeconfig: Path | None, context: str | None, read_objects: ReadObjects
) -> Sequence[Manifest]:
    if choice.zone_name is None:
        raise typer.BadParameter("give the files of the manifests, or --zone to read from the API", param_hint="FILE")
    return read_objects(ZoneQuery(choice.zone_name, choice.namespace, kubeconfig, context))


def _write(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn refusals into a line on standard error and their exit code."""
    try:
        yield
    except (ZoneFileError, ImportRefusedError, ManifestError, ExportRefusedError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(EXIT_REFUSED) from error
