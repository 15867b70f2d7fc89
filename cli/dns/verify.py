"""`dns-api verify`: whether the servers of a zone answer with what its claims say, asked now, whoever provides the zone.

Owns what is asked and how it is told. Never writes anything, neither DNS nor an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import typer

from cli.api.connection import Context, Kubeconfig, Namespace, connect, run
from cli.api.refusal import CommandError
from cli.quantity import counted
from cli.table import Layout
from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.api.record_set import RecordSet, parse_record_set
from controllers.api.verdict import Verdict
from controllers.api.zone import Zone, parse_zone
from controllers.api.zone_class import parse_zone_class
from controllers.core.inputs import class_key_of, zone_key_of
from controllers.core.item import item_of
from controllers.probe.address import Address, ServerName, parse_server
from controllers.probe.answer import Answer, Outcome
from controllers.probe.exchange import NetworkExchange
from controllers.probe.prober import Plan, Prober
from controllers.probe.round import Round
from controllers.probe.subject import Subject, question_about
from controllers.providers.external.binding import PROVIDER_NAME, ExternalConfig
from controllers.providers.external.class_rule import judge_parameters
from controllers.providers.external.observation import describe, judge_records, list_values
from controllers.providers.external.parameters import Settings
from controllers.providers.external.wanted import Wanted, wanted_of
from kube.client import Client
from kube.errors import NotFound
from zonemodel.name import Fqdn
from zonemodel.record import RecordBodies

HEADER: Final = ("SERVER", "NAME", "TYPE", "RESULT", "WANT", "GOT")
RESULTS: Final = {
    "Programmed": "ok",
    "ExternalResourceMismatch": "differs",
    "ExternalResourceNotFound": "missing",
    "ProviderConflict": "lame",
    "ProviderUnavailable": "no answer",
}
CELL_LIMIT_CHARS: Final = 60
NAMED: Final = 16


@dataclass(frozen=True, slots=True)
class Row:
    """One server's word on one record set."""

    server: str
    wanted: Wanted
    verdict: Verdict
    got: str

    @property
    def good(self) -> bool:
        return self.verdict.accepted

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        result = RESULTS.get(self.verdict.reason, self.verdict.reason.value)
        want = _cut(list_values(self.wanted.values))
        return self.server, self.wanted.owner, self.wanted.type.value, result, want, _cut(self.got)


@dataclass(frozen=True, slots=True)
class Request:
    """Which Zone, and whom to ask about it; without servers those of its class, or those that the delegation leads to."""

    zone: str
    namespace: str
    servers: tuple[Address | ServerName, ...]
    resolvers: tuple[Address, ...]
    timeout_s: int
    differences: bool


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
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Ask every server of a zone about every record set that is claimed in it, and show want and got side by side.

    Servers come from --server, else from an external ZoneClass, else from the delegation. Exit status 0 when every server answers with
    every record set, 1 when not, 2 when the command line is wrong.
    """
    servers = tuple(_parse(each, "--server") for each in server or ())
    resolvers = [_parse(each, "--resolver") for each in resolver or ()]
    if names := [str(each) for each in resolvers if isinstance(each, ServerName)]:
        raise typer.BadParameter(f"found {names[0]!r}, allowed: an address", param_hint="--resolver")
    connection = connect(kubeconfig, context)
    addresses = tuple(each for each in resolvers if isinstance(each, Address))
    request = Request(zone, namespace or connection.namespace, servers, addresses, timeout, differences)
    run(connection, lambda client: _verify(client, request))


def _parse(text: str, option: str) -> Address | ServerName:
    try:
        return parse_server(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


async def _verify(client: Client, request: Request) -> int:
    zone = await _find_zone(client, request)
    claims = await _claims_of(client, zone)
    settings = await _settings(client, zone, request)
    for claim in claims:
        if not _has_body(claim):
            told = "its provider makes its records of spec.options, and what they are is not known"
            typer.echo(f"warning: RecordSet {claim.key} is not verified: {told}", err=True)
    claims = [claim for claim in claims if _has_body(claim)]
    wanted = [_wanted(claim, zone) for claim in claims]
    prober = Prober(NetworkExchange(), ExternalConfig().port)
    subjects = tuple(Subject(claim.spec.name, claim.spec.type.code) for claim in claims)
    plan = Plan(
        Fqdn(zone.spec.domain_name),
        subjects,
        name_servers=settings.name_servers,
        resolvers=settings.resolvers,
        timeout_s=settings.timeout_s,
    )
    found = await prober.probe(plan)
    for fault in found.faults:
        typer.echo(f"warning: {fault}", err=True)
    if left_out := found.left_out():
        more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
        typer.echo(f"warning: the apex names {', '.join(left_out[:NAMED])}{more}, which nobody asked", err=True)
    if not found.servers:
        raise CommandError(f"found no server of {zone.spec.domain_name}; name one with --server")
    rows = list(rows_of(found, claims, wanted))
    return show(rows, found, request.differences)


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


async def _settings(client: Client, zone: Zone, request: Request) -> Settings:
    settings = Settings()
    if zone.spec.provider.name == PROVIDER_NAME:
        key = class_key_of(zone)
        try:
            judged = judge_parameters(
                parse_zone_class(await client.get(ZONE_CLASSES, name=key.name, namespace=key.namespace))
            )
        except NotFound as error:
            raise CommandError(f"ZoneClass {key} does not exist") from error
        if isinstance(judged, Verdict):
            raise CommandError(f"ZoneClass {key}: {judged.message}")
        settings = judged
    return Settings(
        name_servers=request.servers or settings.name_servers,
        resolvers=request.resolvers or settings.resolvers,
        timeout_s=request.timeout_s,
    )


def _has_body(claim: RecordSet) -> bool:
    """An alias of a provider has none: it stands for whatever addresses its target has at the moment."""
    return any(getattr(claim.spec, name) is not None for name in RecordBodies.model_fields)


def _wanted(claim: RecordSet, zone: Zone) -> Wanted:
    try:
        return wanted_of(item_of(claim), Fqdn(zone.spec.domain_name))
    except ValueError as error:
        raise CommandError(f"RecordSet {claim.key}: {error}") from error


def rows_of(found: Round, claims: Sequence[RecordSet], wanted: Sequence[Wanted]) -> Iterator[Row]:
    """Yield a row for each record set and server."""
    for claim, each in zip(claims, wanted, strict=True):
        question = question_about(claim.spec.name, claim.spec.type.code, Fqdn(found.zone), found.label)
        for server, answer in found.told(question):
            verdict = judge_records(each, [(server, answer)], require_all=True).programmed
            yield Row(server, each, verdict, _got(each, answer))


def _got(wanted: Wanted, answer: Answer) -> str:
    text = describe(answer)
    other_ttl = answer.outcome is Outcome.DATA and wanted.ttl_s is not None and answer.ttl_s != wanted.ttl_s
    return f"{text} (TTL {answer.ttl_s})" if other_ttl else text


def show(rows: Iterable[Row], found: Round, differences: bool) -> int:
    """Print the table and its sum; returns the exit code."""
    every = list(rows)
    bad = [row for row in every if not row.good]
    shown = bad if differences else every
    if shown:
        for line in Layout().lines([HEADER, *(row.cells() for row in shown)]):
            typer.echo(line)
    count = f"{counted(len(every), 'answer')} of {counted(len(found.servers), 'server')}"
    typer.echo(f"{count}: {len(every) - len(bad):,} as wanted, {len(bad):,} not")
    return int(bool(bad) or not all(each.addresses for each in found.servers))


def _cut(text: str) -> str:
    return text if len(text) <= CELL_LIMIT_CHARS else f"{text[: CELL_LIMIT_CHARS - 1]}…"
