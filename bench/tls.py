"""How many queries a second a core answers over TLS (RFC 7858): 20 connections, 200 queries under way, as dnsperf sends them.

Knot and PowerDNS of the system's packages answer no DNS over TLS.

python -m bench tls
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench.certificate import write_certificate
from bench.dns_zone import write_query_text, write_zone
from bench.figure import Figure, median, told
from bench.name_server import BIND, NSD, OURS, NameServer, free_port, running
from bench.tcp import load

ROUNDS: Final = 3
_OPTIONS_AT: Final = 3
"""Where options begin in the command line of our server alone, which knows none of TLS."""

Files = tuple[Path, Path]
"""Certificate and key."""


@dataclass(frozen=True, slots=True)
class TlsServer:
    """A server, and what makes it answer over TLS on a further port: its command line is changed, or what it has written."""

    plain: NameServer
    add: Callable[[Sequence[str], Path, int, Files], Sequence[str]]

    def on(self, port: int, files: Files) -> NameServer:
        """Return the server with TLS on that port."""

        def command(folder: Path, zone: Path, plain_port: int) -> Sequence[str]:
            return self.add(self.plain.command(folder, zone, plain_port), folder, port, files)

        return replace(self.plain, command=command)


def _ours(command: Sequence[str], _folder: Path, port: int, files: Files) -> Sequence[str]:
    program = str(Path(sys.executable).with_name("dns-api"))
    tls = ("--tls-listen", f"127.0.0.1:{port}", "--tls-certificate", str(files[0]), "--tls-key", str(files[1]))
    return (program, "server", *command[_OPTIONS_AT:], *tls)


def _nsd(command: Sequence[str], folder: Path, port: int, files: Files) -> Sequence[str]:
    with (folder / "nsd.conf").open("a") as file:
        file.write(f"server:\n  ip-address: 127.0.0.1@{port}\n  tls-port: {port}\n")
        file.write(f"  tls-service-pem: {files[0]}\n  tls-service-key: {files[1]}\n")
    return command


def _bind(command: Sequence[str], folder: Path, port: int, files: Files) -> Sequence[str]:
    path = folder / "named.conf"
    listen = f"listen-on port {port} tls here {{ 127.0.0.1; }}; listen-on port"
    text = path.read_text().replace("listen-on port", listen, 1)
    path.write_text(f'tls here {{ cert-file "{files[0]}"; key-file "{files[1]}"; }};\n{text}')
    return command


_SERVERS: Final = (TlsServer(OURS, _ours), TlsServer(NSD, _nsd), TlsServer(BIND, _bind))


def measure() -> Iterator[Figure]:
    """Yield the medians of all rounds; every round goes through all servers in turn."""
    servers = [server for server in _SERVERS if server.plain.is_installed]
    qps = defaultdict[str, list[float]](list)
    with tempfile.TemporaryDirectory(prefix="dns-api-tls-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        write_zone(folder / "zone")
        write_query_text(folder / "queries")
        write_certificate(folder)
        files = folder / "tls.crt", folder / "tls.key"
        for number in range(ROUNDS):
            for server in servers:
                name, port = server.plain.name, free_port()
                with running(server.on(port, files), folder / f"{name}-{number}", folder / "zone"):
                    qps[name].append(load(port, folder / "queries", "dot"))
    for server in servers:
        yield told("queries a second over TLS", server.plain.name, median(qps[server.plain.name]) / 1000, "k")
