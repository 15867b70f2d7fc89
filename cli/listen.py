"""Addresses as options spell them: HOST:PORT, with brackets around IPv6."""

from __future__ import annotations

import typer


def parse_address(text: str, option: str) -> tuple[str, int]:
    """Return address and port; raises typer.BadParameter, which names the option, what was found and what is allowed."""
    host, _, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    unclear = ":" in host and bare == host
    if not bare or unclear or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        allowed = "HOST:PORT, such as 127.0.0.1:5353 or [::1]:5353"
        raise typer.BadParameter(f"found {text!r}, allowed is {allowed}", param_hint=option)
    return bare, int(port)
