"""`dns-api withdrawal`: which addresses may be given back, and an operator's word that one may before that is proven.

Owns options and words. Whether a waiver counts is the controllers' to say.
"""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from typing import Annotated, Any, Final

import orjson
import typer

from cli.api.connection import AllNamespaces, Context, Kubeconfig, Namespace, connect, run
from cli.api.refusal import CommandError
from cli.table import Layout
from controllers.api.condition import Condition, find_condition
from controllers.api.group import DESCRIPTION
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS, RecordWithdrawal, parse_record_withdrawal
from controllers.api.record_withdrawal_reason import WithdrawalCondition
from controllers.api.record_withdrawal_waiver import RECORD_WITHDRAWAL_WAIVERS
from controllers.core.withdrawal.digest import spec_digest
from kube.client import Client
from kube.errors import NotFound

HEADER: Final = ("NAME", "ZONE", "OWNER", "ADDRESS", "ACCEPTED", "WITHDRAWN", "READY", "REASON")
NOT_READY: Final = 1


@dataclass(frozen=True, slots=True)
class Reservation:
    """What holds the address, as `GROUP/KIND/[NAMESPACE/]NAME` and a UID."""

    group: str
    kind: str
    namespace: str | None
    name: str
    uid: str

    def dump(self) -> dict[str, str]:
        """Return the reference as it stands in a waiver."""
        found = {"group": self.group, "kind": self.kind, "name": self.name, "uid": self.uid}
        return found if self.namespace is None else {**found, "namespace": self.namespace}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(
        name="withdrawal", help="Tell which addresses may be given back, or waive the proof.", no_args_is_help=True
    )
    commands.command("list")(list_command)
    commands.command("waive")(waive_command)
    app.add_typer(commands)


def list_command(
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """List withdrawals and how far each is proven. Exit status 0 when all are ready, 1 when one is not."""
    connection = connect(kubeconfig, context)
    where = "" if all_namespaces else namespace or connection.namespace
    run(connection, lambda client: _list(client, where))


def waive_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the RecordWithdrawal.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="Why, 1 to 1024 characters; it stays in the waiver.")],
    reservation: Annotated[
        str,
        typer.Option("--reservation", metavar="GROUP/KIND/[NAMESPACE/]NAME", help="The object that holds the address."),
    ],
    reservation_uid: Annotated[str, typer.Option("--reservation-uid", metavar="UID", help="UID of that object.")],
    waiver: Annotated[
        str | None, typer.Option("--waiver", help="Name of the waiver, by default that of the claim.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Have the API judge it, and print it instead.")] = False,
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Release an address although its withdrawal is not proven, by writing a RecordWithdrawalWaiver for exactly this claim.

    It holds for the claim's UID and spec only. Whoever still has the old answer reaches whoever gets the address next. A claim that is
    not accepted (Accepted=False) cannot be waived: nothing would come of it.
    """
    held_by = parse_reservation(reservation, reservation_uid)
    connection = connect(kubeconfig, context)
    where = namespace or connection.namespace
    run(connection, lambda client: _waive(client, where, name, waiver or name, reason, held_by, dry_run))


def parse_reservation(text: str, uid: str) -> Reservation:
    """Return what `--reservation` names; raises typer.BadParameter."""
    parts = text.split("/")
    if len(parts) not in (3, 4) or not all(parts[1:]):
        allowed = "GROUP/KIND/NAME or GROUP/KIND/NAMESPACE/NAME, with an empty GROUP for the core group"
        raise typer.BadParameter(f"found {text!r}, allowed: {allowed}", param_hint="--reservation")
    group, kind, *namespace, name = parts
    return Reservation(group, kind, namespace[0] if namespace else None, name, uid)


async def _list(client: Client, namespace: str) -> int:
    claims = [
        parse_record_withdrawal(each) for each in (await client.list(RECORD_WITHDRAWALS, namespace=namespace)).items
    ]
    if not claims:
        typer.echo("no RecordWithdrawals" + (f" in namespace {namespace}" if namespace else ""), err=True)
        return 0
    header = HEADER if namespace else ("NAMESPACE", *HEADER)
    ordered = sorted(claims, key=lambda claim: claim.key)
    rows = [_row(claim) if namespace else (claim.meta.namespace, *_row(claim)) for claim in ordered]
    for line in Layout().lines([header, *rows]):
        typer.echo(line)
    return 0 if all(_status(claim, WithdrawalCondition.READY) == "True" for claim in claims) else NOT_READY


def _row(claim: RecordWithdrawal) -> tuple[str, ...]:
    spec = claim.spec
    words = [
        _status(claim, kind)
        for kind in (WithdrawalCondition.ACCEPTED, WithdrawalCondition.WITHDRAWN, WithdrawalCondition.READY)
    ]
    accepted, ready = (
        find_condition(claim.status.conditions, kind)
        for kind in (WithdrawalCondition.ACCEPTED, WithdrawalCondition.READY)
    )
    refused = accepted is not None and accepted.status == "False"
    told = accepted if refused else ready
    zone = spec.zone_ref.key_from(claim.meta.namespace)
    return claim.meta.name, str(zone), spec.name, spec.address, *words, told.reason if told is not None else ""


def _refusal(claim: RecordWithdrawal) -> Condition | None:
    """Return Accepted when it is False, of the claim as it is now."""
    found = find_condition(claim.status.conditions, WithdrawalCondition.ACCEPTED)
    current = found is not None and found.observed_generation == claim.meta.generation
    return found if found is not None and current and found.status == "False" else None


def _status(claim: RecordWithdrawal, kind: WithdrawalCondition) -> str:
    """Return a condition's status; one of another generation says nothing."""
    found = find_condition(claim.status.conditions, kind)
    return found.status.value if found is not None and found.observed_generation == claim.meta.generation else "Unknown"


async def _waive(
    client: Client, namespace: str, name: str, waiver: str, reason: str, held_by: Reservation, dry_run: bool
) -> int:
    try:
        claim = parse_record_withdrawal(await client.get(RECORD_WITHDRAWALS, name=name, namespace=namespace))
    except NotFound as error:
        raise CommandError(f"RecordWithdrawal {namespace}/{name} does not exist") from error
    if (refusal := _refusal(claim)) is not None:
        told = f"{refusal.reason}: {refusal.message}" if refusal.message else refusal.reason
        raise CommandError(
            f"RecordWithdrawal {namespace}/{name} is not accepted ({told}), so a waiver would release nothing; mend what stands"
            " against the claim, or archive it: dns-api delete recordwithdrawal/" + f"{name} -n {namespace}"
        )
    manifest = manifest_of(claim, waiver, reason, held_by)
    created = await client.create(RECORD_WITHDRAWAL_WAIVERS, manifest, dry_run=dry_run)
    if dry_run:
        typer.echo(orjson.dumps(created, option=orjson.OPT_INDENT_2).decode())
        return 0
    typer.echo(
        f"recordwithdrawalwaiver.dns.appthrust.io/{waiver} created for {claim.spec.address} at {claim.spec.name};"
        " the address is not free before the claim is Ready"
    )
    typer.echo("  wait for it with: dns-api wait recordwithdrawal/" + f"{name} -n {namespace} --for condition=Ready")
    return 0


def manifest_of(claim: RecordWithdrawal, name: str, reason: str, held_by: Reservation) -> dict[str, Any]:
    """Return the waiver of a claim."""
    return {
        "apiVersion": RECORD_WITHDRAWAL_WAIVERS.api_version,
        "kind": RECORD_WITHDRAWAL_WAIVERS.kind,
        "metadata": {
            "namespace": claim.meta.namespace,
            "name": name,
            "annotations": {DESCRIPTION: f"Written by dns-api withdrawal waive, run by {_person()}."},
        },
        "spec": {
            "claimRef": {"name": claim.meta.name, "uid": claim.meta.uid},
            "specDigest": spec_digest(claim),
            "address": claim.spec.address,
            "reason": reason,
            "reservationRef": held_by.dump(),
        },
    }


def _person() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for its user
        return f"user {os.getuid()}"
