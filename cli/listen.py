"""Addresses as options spell them: HOST:PORT, with brackets around IPv6."""

from __future__ import annotations

import typer


def parse_address(text: str) -> tuple[str, int]:
    """Return address and port; raises typer.BadParameter, which names what was found and what is allowed."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise typer.BadParameter(f"found {text!r}, allowed is HOST:PORT, such as 127.0.0.1:5353 or [::1]:5353")
    return host.removeprefix("[").removesuffix("]"), int(port)
