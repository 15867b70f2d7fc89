"""`dns-api wait`: until objects are Programmed, Accepted, gone, or whatever a condition says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from cli.api.condition import ConditionGoal, Goal, GoneGoal
from cli.api.connection import AllNamespaces, Context, Kubeconfig, Namespace, Selector, connect, run
from cli.api.kind import Kinds, parse_words, types_that_begin
from cli.api.refusal import CommandError
from cli.objects.waiting import complain_of, find_subjects, wait_until
from cli.options.duration import parse_seconds
from kube.client import Client


@dataclass(frozen=True, slots=True)
class Request:
    """What to wait for; an empty namespace means all."""

    words: Sequence[str]
    namespace: str
    selector: str | None
    goal: Goal
    timeout_s: float


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("wait")(wait_command)


def wait_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TYPE[,TYPE…] [NAME…] | TYPE/NAME…", autocompletion=types_that_begin, help="What to wait for."
        ),
    ],
    goal: Annotated[
        str,
        typer.Option("--for", metavar="GOAL", help="Programmed, Accepted, delete, or condition=TYPE[=STATUS]."),
    ] = "Programmed",
    timeout: Annotated[str, typer.Option(metavar="DURATION", help="How long, such as 30s or 5m.")] = "60s",
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    selector: Selector = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Wait for objects, by default until they are Programmed, that is, served.

    Without names every object of the type counts that there is now. Conditions of an older generation do not count.
    Exit code 1 when the time is up; what is missing is told.
    """
    goal_ = parse_goal(goal)
    timeout_s = parse_seconds(timeout, "--timeout")
    connection = connect(kubeconfig, context)
    where = "" if all_namespaces else namespace or connection.namespace
    request = Request(words, where, selector, goal_, timeout_s)
    run(connection, lambda client: _wait(client, request))


def parse_goal(text: str) -> Goal:
    """Return what `--for` names; raises typer.BadParameter."""
    if text.lower() == "delete":
        return GoneGoal()
    kind, equals, rest = text.partition("=")
    if kind.lower() == "condition" and equals:
        name, _, status = rest.partition("=")
        goal = ConditionGoal(name, status or "True")
    else:
        goal = ConditionGoal(text)
    if not goal.type.isalnum() or goal.status.lower() not in ("true", "false", "unknown"):
        allowed = "Programmed, Accepted, delete, condition=TYPE or condition=TYPE=STATUS with True, False or Unknown"
        raise typer.BadParameter(f"found {text!r}, allowed are {allowed}", param_hint="--for")
    return goal


async def _wait(client: Client, request: Request) -> int:
    words = parse_words(await Kinds.ask(client), request.words)
    subjects = await find_subjects(client, words, request.namespace, request.selector)
    if not subjects and not isinstance(request.goal, GoneGoal):
        where = f" in namespace {request.namespace}" if request.namespace else ""
        raise CommandError(f"found nothing to wait for{where}")
    unmet = await wait_until(client, subjects, request.goal, request.timeout_s)
    if unmet:
        complain_of(unmet, f"is not {request.goal.done}")
        typer.echo(f"{len(unmet):,} of {len(subjects):,} not {request.goal.done}", err=True)
    return int(bool(unmet))
