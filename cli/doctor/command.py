"""`dns-api doctor`: examines an installation and its zones, and says for each fault what to do.

Owns the order of the checks and the exit code: 0 when nothing has failed, else 1. Changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

import orjson
import typer

from cli.api.connection import Context, Kubeconfig, connect, run
from cli.dns.name_server import SystemNamespace
from cli.doctor.finding import Finding, is_healthy, lines, ok, unanswered
from cli.doctor.installation import (
    examine_admission,
    examine_definitions,
    examine_lease,
    examine_providers,
)
from cli.doctor.rights import examine_rights
from cli.doctor.webhook import examine_webhook
from cli.doctor.zone import examine_delegations, examine_objects, examine_servers
from cli.options.form import Form, FormOption
from kube.client import Client
from kube.errors import KubeError

Check = Callable[[], AsyncIterator[Finding]]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor_command)


def doctor_command(
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NAME",
            help="Namespace in which a wrong Zone is tried by a dry run, by default the context's, else `default`. "
            "Objects of every namespace are examined.",
        ),
    ] = None,
    system_namespace: SystemNamespace = "dns-api-system",
    output: FormOption = Form.TABLE,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Examine API access, definitions, Providers, admission, rights, the manager, objects, name servers and delegations."""
    connection = connect(kubeconfig, context)

    async def work(client: Client) -> int:
        version = await client.read("/version")  # without the API there is nothing to examine
        findings = [ok("api", connection.server, f"it answers: {version.get('gitVersion', 'version unknown')}")]
        for name, check in _checks(client, namespace or connection.namespace, system_namespace).items():
            findings += await _findings(name, check)
        if output is Form.JSON:
            report = {"healthy": is_healthy(findings), "findings": [each.dump() for each in findings]}
            typer.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
        else:
            typer.echo("\n".join(lines(findings)))
        return 0 if is_healthy(findings) else 1

    run(connection, work)


def _checks(client: Client, namespace: str, system: str) -> dict[str, Check]:
    return {
        "definitions": lambda: examine_definitions(client),
        "providers": lambda: examine_providers(client),
        "admission": lambda: _one(examine_admission(client, namespace)),
        "webhook": lambda: examine_webhook(client, system),
        "rights": lambda: examine_rights(client, system),
        "manager": lambda: _one(examine_lease(client, system)),
        "objects": lambda: examine_objects(client),
        "servers": lambda: examine_servers(client, system),
        "delegation": lambda: examine_delegations(client),
    }


async def _one(finding: Awaitable[Finding]) -> AsyncIterator[Finding]:
    yield await finding


async def _findings(name: str, check: Check) -> list[Finding]:
    """Return what a check brings; one that the API does not answer keeps no other back."""
    found: list[Finding] = []
    try:
        async for each in check():
            found.append(each)  # noqa: PERF401 - what came before an error is kept
    except KubeError as error:
        found.append(unanswered(name, "the API", error))
    return found
