"""`python -m server`: the name server alone, for zone files, without the `dns-api` command around it.

Owns nothing but the reading of its arguments.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from server.config import Address, ServerConfig, ZoneFile
from server.process import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m server", description="Serve master files over DNS.")
    parser.add_argument("--listen", action="append", type=_address, required=True, metavar="HOST:PORT")
    parser.add_argument("--zonefile", action="append", type=_zone_file, default=[], metavar="PATH[,ORIGIN]")
    parser.add_argument("--http", type=_address, metavar="HOST:PORT", help="serve /healthz, /readyz and /metrics")
    parser.add_argument(
        "--ready-fd", type=int, metavar="FD", help="write the addresses to this descriptor once all zones are served"
    )
    arguments = parser.parse_args()
    config = ServerConfig(tuple(arguments.listen), zone_files=tuple(arguments.zonefile), http=arguments.http)
    return run(config, ready_fd=arguments.ready_fd)


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"found {text!r}, allowed is HOST:PORT, such as 127.0.0.1:5353 or [::1]:5353")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


def _zone_file(text: str) -> ZoneFile:
    path, comma, origin = text.rpartition(",")
    return ZoneFile(Path(path), origin) if comma else ZoneFile(Path(text))


if __name__ == "__main__":
    raise SystemExit(main())
