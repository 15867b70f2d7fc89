"""How long a whole zone of 100,000 records takes to be transferred (AXFR), by a client that only counts.

python -m bench transfer
"""

from __future__ import annotations

import socket
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.dns_zone import ORIGIN, write_large_zone
from bench.figure import Figure, median, told
from bench.name_server import BIND, KNOT, NSD, OURS, running
from zonemodel.name import to_wire

RECORDS: Final = 100_000
ROUNDS: Final = 3
_AROUND: Final = 5
"""SOA at both ends, NS set, its address, and one to spare for servers that say nothing else."""
_LIMIT_S: Final = 30.0


def _with_transfer(_folder: Path, zone: Path, port: int) -> Sequence[str]:
    listen = ("--listen", f"127.0.0.1:{port}", "--zonefile", str(zone), "--allow-transfer", "127.0.0.0/8")
    return (str(Path(sys.executable).with_name("dns-api")), "server", *listen)


def measure() -> Iterator[Figure]:
    """Yield the medians of all rounds; every round goes through all servers in turn."""
    ours = replace(OURS, command=_with_transfer)
    servers = [ours, *(peer for peer in (NSD, KNOT, BIND) if peer.is_installed)]
    took_s = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="dns-api-transfer-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        write_large_zone(folder / "zone", RECORDS)
        for number in range(ROUNDS):
            for server in servers:
                with running(server, folder / f"{server.name}-{number}", folder / "zone") as process:
                    took_s[server.name].append(_transfer_s(process.port))
    for server in servers:
        yield told(f"whole transfer, {RECORDS:,} records", server.name, median(took_s[server.name]) * 1e3, "ms")


def _transfer_s(port: int) -> float:
    """Transfer the zone and return how long that took; raises RuntimeError for a refusal, or for fewer records."""
    query = b"\0\1\0\0\0\1\0\0\0\0\0\0" + to_wire(ORIGIN) + b"\0\xfc\0\1"
    started = time.perf_counter()
    records = 0
    with socket.create_connection(("127.0.0.1", port), _LIMIT_S) as sock, sock.makefile("rb") as stream:
        sock.sendall(len(query).to_bytes(2, "big") + query)
        while records < RECORDS + _AROUND - 1:
            size = stream.read(2)
            message = stream.read(int.from_bytes(size, "big"))
            if len(message) < 12 or message[3] & 0xF:
                raise RuntimeError(f"the transfer ended after {records} records")
            records += int.from_bytes(message[6:8], "big")
    return time.perf_counter() - started
