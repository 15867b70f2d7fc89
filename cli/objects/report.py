"""How a manifest that cannot be used is told: where it stands, then one line for each fault."""

from __future__ import annotations

import sys

import typer

from cli.objects.document import Fault


def show(fault: Fault) -> None:
    """Print a fault to standard error, after everything that standard output has got before."""
    sys.stdout.flush()
    about = f", {fault.subject}" if fault.subject else ""
    typer.echo("\n".join([f"refused: {fault.place}{about}", *(f"  {message}" for message in fault.messages)]), err=True)
