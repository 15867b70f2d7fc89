"""`python -m server`: the name server alone, for zone files, without the `dns-api` command around it.

Owns nothing but the reading of its arguments.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from server.config import Address, ServerConfig, ZoneFile
from server.listening.listen import everywhere
from server.process import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m server", description="Serve master files over DNS.")
    parser.add_argument("--listen", action="append", type=_addresses, required=True, metavar="[HOST]:PORT")
    parser.add_argument("--zonefile", action="append", type=_zone_file, default=[], metavar="PATH[,ORIGIN]")
    parser.add_argument(
        "--http", type=_addresses, default=(), metavar="[HOST]:PORT", help="serve /healthz, /readyz and /metrics"
    )
    parser.add_argument(
        "--ready-fd", type=int, metavar="FD", help="write the addresses to this descriptor once all zones are served"
    )
    arguments = parser.parse_args()
    listen = tuple(address for given in arguments.listen for address in given)
    config = ServerConfig(listen, zone_files=tuple(arguments.zonefile), http=arguments.http)
    return run(config, ready_fd=arguments.ready_fd)


def _addresses(text: str) -> tuple[Address, ...]:
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    unclear = ":" in host and bare == host
    if not colon or unclear or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        allowed = "HOST:PORT, such as 127.0.0.1:5353 or [::1]:5353, or :PORT for all addresses"
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed is {allowed}")
    return (Address(bare, int(port)),) if host else everywhere(int(port))


def _zone_file(text: str) -> ZoneFile:
    path, comma, origin = text.rpartition(",")
    return ZoneFile(Path(path), origin) if comma else ZoneFile(Path(text))


if __name__ == "__main__":
    raise SystemExit(main())
