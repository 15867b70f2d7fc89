"""`dns-api verify`: whether the servers of a zone answer with what its claims say, asked now, whoever provides the zone.

Owns what is asked, and of whom. Never writes anything, neither DNS nor an object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import dns.rdatatype
import orjson
import typer

from cli.api.connection import Context, Kubeconfig, Namespace, connect, run
from cli.api.refusal import CommandError
from cli.dns.comparison import Comparison, compare
from cli.dns.name_server import SystemNamespace, live_name_servers
from cli.options.form import Form, FormOption
from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.api.record_set import RecordSet, parse_record_set
from controllers.api.verdict import Verdict
from controllers.api.zone import Zone, parse_zone
from controllers.api.zone_class import parse_zone_class
from controllers.core.inputs import class_key_of, zone_key_of
from controllers.core.item import item_of
from controllers.probe.address import Address, ServerName, parse_server
from controllers.probe.exchange import NetworkExchange
from controllers.probe.prober import Plan, Prober
from controllers.probe.round import Server
from controllers.probe.subject import Subject
from controllers.providers.external.binding import PROVIDER_NAME as EXTERNAL
from controllers.providers.external.binding import ExternalConfig
from controllers.providers.external.class_rule import judge_parameters
from controllers.providers.external.parameters import Settings
from controllers.providers.external.wanted import Wanted, wanted_of
from kube.client import Client
from kube.errors import Forbidden, NotFound
from zonemodel.hosted_zone import GROUP as HOSTED
from zonemodel.name import Fqdn
from zonemodel.record import RecordBodies

NAMED: Final = 16


@dataclass(frozen=True, slots=True)
class Request:
    """Which Zone, and whom to ask about it."""

    zone: str
    namespace: str
    servers: tuple[Address | ServerName, ...]
    resolvers: tuple[Address, ...]
    timeout_s: int
    system_namespace: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify_command)


def verify_command(
    zone: Annotated[str, typer.Argument(metavar="ZONE", help="Name of the Zone.", show_default=False)],
    server: Annotated[
        list[str] | None,
        typer.Option("--server", "-s", metavar="HOST[:PORT]", help="Server to ask; may be given several times."),
    ] = None,
    resolver: Annotated[
        list[str] | None,
        typer.Option("--resolver", metavar="ADDRESS[:PORT]", help="Resolver to find the servers with."),
    ] = None,
    timeout: Annotated[int, typer.Option(min=1, max=30, help="Seconds that a server has for one answer.")] = 5,
    differences: Annotated[bool, typer.Option("--differences", "-d", help="Show only what is not as wanted.")] = False,
    output: FormOption = Form.TABLE,
    namespace: Namespace = None,
    system_namespace: SystemNamespace = "dns-api-system",
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Ask every server of a zone about every record set that is claimed in it, and show want and got side by side.

    Servers come from --server, else from an external ZoneClass; a hosted Zone's are those of the cluster where you may see them, unless
    --resolver is given; else the delegation leads to them. Exit status 0 when every server answers with every record set, 1 when not,
    2 when the command line is wrong.
    """
    servers = tuple(_parse(each, "--server") for each in server or ())
    resolvers = [_parse(each, "--resolver") for each in resolver or ()]
    if names := [str(each) for each in resolvers if isinstance(each, ServerName)]:
        raise typer.BadParameter(f"found {names[0]!r}, allowed: an address", param_hint="--resolver")
    connection = connect(kubeconfig, context)
    addresses = tuple(each for each in resolvers if isinstance(each, Address))
    request = Request(zone, namespace or connection.namespace, servers, addresses, timeout, system_namespace)

    async def work(client: Client) -> int:
        comparison = await _verify(client, request)
        for warning in comparison.warnings:
            typer.echo(f"warning: {warning}", err=True)
        if output is Form.JSON:
            document = comparison.document(differences=differences)
            typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
        else:
            for line in comparison.lines(differences=differences):
                typer.echo(line)
        return comparison.exit_code

    run(connection, work)


def _parse(text: str, option: str) -> Address | ServerName:
    try:
        return parse_server(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


async def _verify(client: Client, request: Request) -> Comparison:
    zone = await _find_zone(client, request)
    every = await _claims_of(client, zone)
    claims = [claim for claim in every if _has_body(claim)]
    untold = "its provider makes its records of spec.options, and what they are is not known"
    warnings = [f"RecordSet {claim.key} is not verified: {untold}" for claim in every if not _has_body(claim)]
    wanted = [_wanted(claim, zone) for claim in claims]
    plan = await _plan(client, zone, claims, request)
    found = await Prober(NetworkExchange(), ExternalConfig().port).probe(plan)
    warnings += found.faults
    if left_out := found.left_out():
        more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
        warnings.append(f"the apex names {', '.join(left_out[:NAMED])}{more}, which nobody asked")
    if not found.servers:
        told = f"found no server of {zone.spec.domain_name}; name one with --server"
        raise CommandError("\n  ".join([told, *found.faults]))
    if plan.servers and not any(answer.outcome.is_answer for _, answer in found.apex(dns.rdatatype.SOA)):
        warnings.append(
            "none of the cluster's name servers answers here: ask from within the cluster, or name some with --server"
        )
    return Comparison(found, list(compare(found, claims, wanted)), warnings)


async def _find_zone(client: Client, request: Request) -> Zone:
    try:
        return parse_zone(await client.get(ZONES, name=request.zone, namespace=request.namespace))
    except NotFound as error:
        raise CommandError(f"Zone {request.namespace}/{request.zone} does not exist") from error


async def _claims_of(client: Client, zone: Zone) -> list[RecordSet]:
    """Return the record sets of a zone that are not refused and not on their way out, in the order of their names."""
    found = [parse_record_set(each) for each in (await client.list(RECORD_SETS)).items]
    ours = [
        claim for claim in found if zone_key_of(claim) == zone.key and not claim.deleting and not _is_refused(claim)
    ]
    return sorted(ours, key=lambda claim: (claim.spec.name, claim.spec.type))


def _is_refused(claim: RecordSet) -> bool:
    return any(each.type == "Accepted" and each.status == "False" for each in claim.status.conditions)


async def _plan(client: Client, zone: Zone, claims: Sequence[RecordSet], request: Request) -> Plan:
    """Return whom to ask what."""
    provider = zone.spec.provider.name
    settings = await _settings(client, zone) if provider == EXTERNAL else Settings()
    name_servers, resolvers = request.servers or settings.name_servers, request.resolvers or settings.resolvers
    is_here = provider == HOSTED and not name_servers and not resolvers
    return Plan(
        Fqdn(zone.spec.domain_name),
        tuple(Subject(claim.spec.name, claim.spec.type.code) for claim in claims),
        servers=await _of_cluster(client, request.system_namespace) if is_here else (),
        name_servers=name_servers,
        resolvers=resolvers,
        timeout_s=request.timeout_s,
    )


async def _of_cluster(client: Client, namespace: str) -> tuple[Server, ...]:
    """Return the name servers of hosted zones; to who may not see them the delegation is left."""
    try:
        return await live_name_servers(client, namespace)
    except Forbidden:
        return ()


async def _settings(client: Client, zone: Zone) -> Settings:
    """Return what the class of an external Zone says of its servers."""
    key = class_key_of(zone)
    try:
        found = await client.get(ZONE_CLASSES, name=key.name, namespace=key.namespace)
    except NotFound as error:
        raise CommandError(f"ZoneClass {key} does not exist") from error
    judged = judge_parameters(parse_zone_class(found))
    if isinstance(judged, Verdict):
        raise CommandError(f"ZoneClass {key}: {judged.message}")
    return judged


def _has_body(claim: RecordSet) -> bool:
    """An alias of a provider has none: it stands for whatever addresses its target has at the moment."""
    return any(getattr(claim.spec, name) is not None for name in RecordBodies.model_fields)


def _wanted(claim: RecordSet, zone: Zone) -> Wanted:
    try:
        return wanted_of(item_of(claim), Fqdn(zone.spec.domain_name))
    except ValueError as error:
        raise CommandError(f"RecordSet {claim.key}: {error}") from error
