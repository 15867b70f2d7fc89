"""Who may reach the API: on loopback everybody on this machine, beyond it only who has the token, and only by TLS.

Web pages are nobody on this machine: on loopback a request has to name it.

Owns this rule, the token and its file. The certificates are in `certificate`.
"""

from __future__ import annotations

import ipaddress
import secrets
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from standalone.apiserver.certificate import open_authority, server_context, write_private

TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Security:
    """What guards the API; all None on loopback."""

    token: str | None = None
    ca_pem: bytes | None = None
    tls: ssl.SSLContext | None = None


def security_for(host: str, data_dir: Path) -> Security:
    """Guard an API that listens on `host`; token and authority are kept in `data_dir` and stay the same."""
    if is_loopback(host):
        return Security()
    authority = open_authority(data_dir)
    return Security(_token(data_dir / "token"), authority.pem, server_context(authority, data_dir, host))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names_loopback(host_header: str) -> bool:
    """Whether a Host header (RFC 9110 section 7.2) names this machine's loopback.

    A page of a foreign site whose name was made to resolve to loopback (DNS rebinding) makes the browser send that name.
    """
    try:
        host = urlsplit(f"//{host_header}").hostname or ""
    except ValueError:
        return False
    return is_loopback(host) or host.endswith(".localhost")


def _token(path: Path) -> str:
    if not path.exists():
        write_private(path, secrets.token_urlsafe(TOKEN_BYTES).encode())
    return path.read_text().strip()
