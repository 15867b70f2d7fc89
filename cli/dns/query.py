"""`dns-api query`: asks a name server, for machines without another tool to ask with, and compares two of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import dns.edns
import typer

from cli.dns.exchange import Carrier, ExchangeError, Manner, Server, ask, find_server
from cli.dns.question import Question, QuestionError, parse_words, read_questions
from cli.dns.reply import differences, full, short
from cli.options.group import grouped

DEFAULT_SERVER = "127.0.0.1:5353"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("query")(grouped(query_command))


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """What to ask, and whom."""

    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME [CLASS] [TYPE] [@SERVER]",
            help="The question; an address asks for its name.",
            show_default=False,
        ),
    ] = None
    server: Annotated[
        str, typer.Option("--server", "-s", help="Whom to ask, unless an @ tells.", metavar="HOST[:PORT]")
    ] = DEFAULT_SERVER
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="File of questions to ask one after another, one a line.")
    ] = None
    compare: Annotated[
        str | None, typer.Option(help="Ask this server, too, and show what it says differently.", metavar="HOST[:PORT]")
    ] = None
    ignore_ttl: Annotated[bool, typer.Option("--ignore-ttl", help="Let TTLs differ in a comparison.")] = False
    short: Annotated[bool, typer.Option("--short", help="Show the data of the answer only.")] = False


@dataclass(frozen=True, slots=True)
class MannerOptions:
    """How to ask."""

    tcp: Annotated[bool, typer.Option("--tcp", help="Ask over TCP.")] = False
    tls: Annotated[
        bool, typer.Option("--tls", help="Ask over TLS; the certificate is not checked without --tls-ca.")
    ] = False
    tls_ca: Annotated[Path | None, typer.Option(help="Certificates to trust over TLS, PEM.")] = None
    dnssec: Annotated[bool, typer.Option("--dnssec", help="Ask for signatures and proofs.")] = False
    nsid: Annotated[bool, typer.Option("--nsid", help="Ask for the server's own name (RFC 5001).")] = False
    no_edns: Annotated[bool, typer.Option("--no-edns", help="Ask without EDNS.")] = False
    payload: Annotated[int, typer.Option(min=0, max=65535, help="Longest reply to take over UDP, octets.")] = 1232
    recursion: Annotated[bool, typer.Option("--recursion", "-r", help="Have a resolver find the answer.")] = False
    keep_truncated: Annotated[
        bool, typer.Option("--keep-truncated", help="Show a reply over UDP that is cut short; do not ask over TCP.")
    ] = False
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds to wait for a reply.")] = 5.0
    tries: Annotated[int, typer.Option(min=1, help="How often to ask.")] = 2

    @property
    def manner(self) -> Manner:
        """All of it in one value."""
        return Manner(
            carrier=Carrier.TLS if self.tls else Carrier.TCP if self.tcp else Carrier.UDP,
            timeout_s=self.timeout,
            tries=self.tries,
            edns=not self.no_edns,
            payload_bytes=self.payload,
            dnssec=self.dnssec,
            recursion=self.recursion,
            keep_truncated=self.keep_truncated,
            trust=self.tls_ca,
            options=(dns.edns.GenericOption(dns.edns.OptionType.NSID, b""),) if self.nsid else (),
        )


def query_command(what: QuestionOptions, how: MannerOptions) -> None:
    """Ask a name server and show its reply.

    Exit status 0 when there is a reply (with --compare: when both say the same), 1 when not, 2 when the command line is wrong.
    """
    try:
        questions, at = _questions(what)
    except (QuestionError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
    manner = how.manner
    try:
        server = find_server(at or what.server, manner.carrier)
        if what.compare is not None:
            _compare(questions, (server, find_server(what.compare, manner.carrier)), manner, what)
        else:
            for number, question in enumerate(questions):
                exchange = ask(server, question, manner)
                typer.echo(short(exchange) if what.short else ("\n" if number else "") + full(exchange))
    except ExchangeError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error


def _questions(what: QuestionOptions) -> tuple[list[Question], str | None]:
    """Return the questions and the server behind an @; raises QuestionError and OSError."""
    if what.file is None:
        question, server = parse_words(what.words or [])
        return [question], server
    servers = [word.removeprefix("@") for word in what.words or () if word.startswith("@")]
    if len(servers) < len(what.words or ()):
        raise QuestionError("found a question beside --file, allowed is one of them")
    return read_questions(what.file), servers[-1] if servers else None


def _compare(questions: list[Question], servers: tuple[Server, Server], manner: Manner, what: QuestionOptions) -> None:
    """Show what two servers say differently; raises typer.Exit when they do, and ExchangeError when one says nothing."""
    different = 0
    for question in questions:
        ours, theirs = (ask(server, question, manner) for server in servers)
        found = differences(ours, theirs, ttls=not what.ignore_ttl)
        if found:
            different += 1
            typer.echo("\n".join([f"{question}", *found]))
    same = len(questions) - different
    typer.echo(
        f"{len(questions):,} {'question' if len(questions) == 1 else 'questions'}: {same:,} same, {different:,} different"
    )
    if different:
        raise typer.Exit(1)
