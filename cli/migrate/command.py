"""`dns-api migrate external-dns`: reads what external-dns keeps in a zone and prints what makes dns-api keep it.

Owns options and exit codes. Writes to no zone and to no API.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from cli.dns.exchange import Carrier, ExchangeError, find_server
from cli.migrate.plan import Plan, Wish, plan_migration
from cli.migrate.registry import Affix
from cli.migrate.source import SourceError, ask_for, read_key, transfer
from cli.options.reference import object_name, provider_ref
from cli.zone.claim import Target
from cli.zone.manifest import Format, dump
from cli.zone.name import zone_object_name
from controllers.api.reference import NamespacedRef
from zonemodel.name import Fqdn, object_to_domain
from zonemodel.rrset import ZoneData
from zonemodel.zonefile import ZoneFileError, read_zone_file

EXIT_REFUSED: Final = 1
EXIT_LEFT_OUT: Final = 3
ROUTE53_PROVIDER: Final = "route53.dns.appthrust.io/v1alpha1"
_HELP: Final = (
    "Print manifests for the records that external-dns keeps in a zone, as its TXT registry tells, with adoption.\n\n"
    "The zone is read from --zone-file, by transfer from --server, or by questions to --server about each --name. Nothing is written "
    "anywhere: look at the plan, then apply it. Records without a registry entry, and the entries themselves, stay as they are.\n\n"
    "Exit codes: 0 everything is in the plan; 1 the zone cannot be read; 2 wrong options; 3 some records are left out, each with its "
    "reason on standard error."
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(name="migrate", help="Take over what others keep in a zone.", no_args_is_help=True)
    commands.callback()(_group)
    commands.command("external-dns", help=_HELP)(external_dns_command)
    app.add_typer(commands)


def _group() -> None:
    """Keep the command's name although it is the only one."""


def external_dns_command(
    zone: Annotated[str, typer.Option(help="Name of the zone.", metavar="DOMAIN")],
    plan: Annotated[bool, typer.Option("--plan", help="Print the plan; there is nothing else to do here.")] = False,
    zone_file: Annotated[Path | None, typer.Option(help="Master file that holds the zone.", metavar="FILE")] = None,
    server: Annotated[
        str | None, typer.Option("--server", "-s", help="Authoritative server of the zone.", metavar="HOST[:PORT]")
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="Ask about this name instead of a transfer; may be repeated.", metavar="NAME"),
    ] = None,
    tsig_keys: Annotated[Path | None, typer.Option(help="File with the TSIG key for the transfer.")] = None,
    tsig_key: Annotated[str | None, typer.Option(help="Name of the key, where the file has several.")] = None,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds to wait for each answer.")] = 5.0,
    owner_id: Annotated[
        str | None, typer.Option("--txt-owner-id", help="Records of this owner only, as external-dns has it.")
    ] = None,
    txt_prefix: Annotated[str, typer.Option(help="Prefix of registry names, as external-dns has it.")] = "",
    txt_suffix: Annotated[str, typer.Option(help="Suffix of registry names, as external-dns has it.")] = "",
    txt_wildcard: Annotated[
        str, typer.Option("--txt-wildcard-replacement", help="What stands for * in registry names.")
    ] = "",
    leave_to_sources: Annotated[
        bool,
        typer.Option("--leave-to-sources", help="No manifests for what a Service or HTTPRoute publishes by itself."),
    ] = False,
    provider: Annotated[str, typer.Option(help="Provider and version.", metavar="NAME/VERSION")] = ROUTE53_PROVIDER,
    zone_class: Annotated[str, typer.Option(help="ZoneClass that provides the zone.")] = "route53",
    adopt_zone: Annotated[
        str | None, typer.Option(help="The provider's ID of the zone that is there.", metavar="ID")
    ] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Namespace of the manifests.")] = None,
    zone_name: Annotated[str | None, typer.Option(help="Name of the Zone object, by default the domain name.")] = None,
    form: Annotated[Format, typer.Option("--format", "-o", help="Form of the manifests.")] = Format.YAML,
) -> None:
    """Print the plan; the help of the command says what is in it."""
    if not plan:
        raise typer.BadParameter("the command only plans: say so", param_hint="--plan")
    domain = _domain(zone)
    affix = Affix(txt_prefix.lower(), txt_suffix.lower(), txt_wildcard.lower())
    target = Target(
        object_name(zone_name or zone_object_name(domain), "--zone-name"),
        namespace,
        NamespacedRef(name=object_name(zone_class, "--zone-class")),
        provider_ref(provider, ROUTE53_PROVIDER),
    )
    try:
        data = _read(domain, zone_file, server, names or [], affix, timeout, tsig_keys, tsig_key)
    except (ZoneFileError, SourceError, ExchangeError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(EXIT_REFUSED) from error
    found = plan_migration(data, Wish(target, affix, owner_id, leave_to_sources, adopt_zone))
    _tell(found)
    typer.echo(dump(found.manifests, form), nl=False)
    raise typer.Exit(EXIT_LEFT_OUT if found.notes else 0)


def _read(
    domain: Fqdn,
    zone_file: Path | None,
    server: str | None,
    names: list[str],
    affix: Affix,
    timeout_s: float,
    tsig_keys: Path | None,
    tsig_key: str | None,
) -> ZoneData:
    if (zone_file is None) is (server is None):
        raise typer.BadParameter("give one of them: where the zone is", param_hint="--server, --zone-file")
    if zone_file is not None:
        return read_zone_file(zone_file, domain)
    found = find_server(str(server), Carrier.TCP)
    if not names:
        return transfer(domain, found, read_key(tsig_keys, tsig_key), timeout_s)
    inside = [each.lower().rstrip(".") for each in names]
    for each in inside:
        if each != domain and not each.endswith(f".{domain}"):
            raise typer.BadParameter(f"found {each!r}, allowed are names within {domain}", param_hint="--name")
    return ask_for(domain, inside, affix, found, timeout_s)


def _tell(plan: Plan) -> None:
    for note in plan.notes:
        typer.echo(note, err=True)
    typer.echo(
        f"{plan.domain}: external-dns keeps {plan.owned} record sets, {len(plan.manifests) - 1} of them are in the plan; "
        f"{plan.untouched} others stay untouched",
        err=True,
    )


def _domain(text: str) -> Fqdn:
    domain = text.lower().rstrip(".")
    if fault := object_to_domain(domain):
        raise typer.BadParameter(f"found {text!r}: it {fault}", param_hint="--zone")
    return Fqdn(domain)
