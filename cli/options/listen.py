"""Addresses as options spell them: HOST:PORT, with brackets around IPv6, or :PORT for all addresses of the machine."""

from __future__ import annotations

from typing import Final

import typer

_ALLOWED: Final = "HOST:PORT, such as 127.0.0.1:5353 or [::1]:5353"


def parse_address(text: str, option: str) -> tuple[str, int]:
    """Return address and port; raises typer.BadParameter, which names the option, what was found and what is allowed."""
    address = _split(text)
    if address is None or not address[0]:
        raise typer.BadParameter(f"found {text!r}, allowed is {_ALLOWED}", param_hint=option)
    return address


def parse_listener(text: str, option: str) -> tuple[str | None, int]:
    """Return where to listen, for :PORT without an address, which stands for all of them; raises as `parse_address` does."""
    address = _split(text)
    if address is None:
        raise typer.BadParameter(
            f"found {text!r}, allowed is {_ALLOWED}, or :PORT for all addresses", param_hint=option
        )
    host, port = address
    return host or None, port


def _split(text: str) -> tuple[str, int] | None:
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    unclear = (":" in host and bare == host) or (bool(host) and not bare)
    if not colon or unclear or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        return None
    return bare, int(port)
