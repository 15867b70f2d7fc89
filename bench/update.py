"""How long a changed record takes to show in replies, while others ask as fast as they can.

Hosted: from the page of a snapshot that a watch event brings, decoded, to the first reply with the new address, in a zone of 10,000 record
sets. Large: from the change to that reply, in a zone of 1,000,000 records that came from a master file. One query in flight looks for the
change; a load generator on the other core counts replies that never come.

python -m bench update
"""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench.dns_zone import ORIGIN, address, write_large_zone, write_queries
from bench.figure import Figure, median, percentile
from bench.load_generator import flood, program
from bench.name_server import SERVER_CORE
from kube.object import ObjectKey
from server.hosted.content import Content, Head, Lines, read_lines
from server.hosted.serving import Serving
from server.zone.compile import Zone
from server.zone.index import Changes
from server.zone.recompile import recompile
from zonemodel.hosted_zone import SOA, NameServer, Transfer
from zonemodel.name import Fqdn, WireName, to_wire
from zonemodel.rrset import RRset

HOSTED: Final = 10_000
LARGE: Final = 1_000_000
EDITS: Final = 100
PAGE: Final = 1500
HOSTED_MS: Final = 10.0
LARGE_MS: Final = 20.0
FLOOD_S: Final = 3.0
_KEY: Final = ObjectKey("bench", "bench")
_LIMIT_S: Final = 5.0


def measure() -> Iterator[Figure]:
    """Yield the durations of edits in both zones, and the replies that never came."""
    with tempfile.TemporaryDirectory(prefix="dns-api-update-") as scratch:
        folder = Path(scratch)
        write_queries(folder / "queries", "hhn")
        program()
        for name, make, records, bar_ms in (
            (f"hosted zone of {HOSTED:,} record sets", _Hosted, HOSTED, HOSTED_MS),
            (f"zone of {LARGE:,} records", _Large, LARGE, LARGE_MS),
        ):
            with Watched() as watched:
                took_ms, lost = _edits(watched, make(watched, folder), records, folder / "queries")
            yield Figure(f"changed record to reply, {name}: median", median(took_ms), "ms", at_most=bar_ms)
            yield Figure(f"changed record to reply, {name}: p99", percentile(took_ms, 0.99), "ms")
            yield Figure(f"replies that never came, {name}", lost, "", at_most=0)


class Watched:
    """A native data plane with one thread on a socket, and a client that looks for a change."""

    def __init__(self) -> None:
        from server.plane.catalog import NativeCatalog  # where it is not built there is nothing to measure

        self.catalog = NativeCatalog(1232, 1)
        self.catalog.complete = True
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def __enter__(self) -> Watched:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self._socket.setblocking(False)
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._client.connect(("127.0.0.1", self.port))
        self._client.settimeout(_LIMIT_S)
        self._cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {SERVER_CORE})
        self._worker = self.catalog.native.start_worker(self._socket.fileno(), 1, False, None)
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.stop()
        os.sched_setaffinity(0, self._cores)
        self._socket.close()
        self._client.close()

    def until_seen(self, owner: str, data: bytes) -> None:
        """Ask until the reply ends in these octets; raises TimeoutError."""
        query = b"\0\1\0\0\0\1\0\0\0\0\0\0" + to_wire(f"{owner}.{ORIGIN}") + b"\0\1\0\1"
        until = time.monotonic() + _LIMIT_S
        while time.monotonic() < until:
            self._client.send(query)
            if self._client.recv(4096).endswith(data):
                return
        raise TimeoutError(f"{owner} did not change within {_LIMIT_S:g} s")


def _edits(
    watched: Watched, edit: Callable[[int, str], None], records: int, queries: Path
) -> tuple[list[float], float]:
    """Return how long each edit took, and how many replies of a flood at that time never came."""
    results: list[dict[str, Any]] = []
    load = threading.Thread(target=lambda: results.append(flood(watched.port, queries, FLOOD_S, 100)))
    load.start()
    time.sleep(0.5)
    took_ms = []
    for number in range(EDITS):
        host = f"198.51.100.{number + 1}"
        place = number * 7919 % records
        started = time.perf_counter()
        edit(place, host)
        watched.until_seen(f"h{place}", socket.inet_aton(host))
        took_ms.append((time.perf_counter() - started) * 1e3)
        time.sleep(0.01)
    load.join()
    return took_ms, float(results[0]["lost"])


class _Hosted:
    """A snapshot in pages, of which an edit brings another one."""

    def __init__(self, watched: Watched, _folder: Path) -> None:
        soa = SOA(mname=f"ns1.{ORIGIN}", rname=f"hostmaster.{ORIGIN}")
        servers = (NameServer(name=f"ns1.{ORIGIN}", addresses=("192.0.2.1",)),)
        self._head = Head(Fqdn(ORIGIN), 1, soa, servers, Transfer())
        self._sets = [_record_set(number, address(number)) for number in range(HOSTED)]
        self._pages = [self._page(start) for start in range(0, HOSTED, PAGE)]
        self._loop = asyncio.new_event_loop()
        self._serving = Serving(watched.catalog, lambda _apex: None)
        self._serve()

    def __call__(self, place: int, host: str) -> None:
        self._sets[place] = _record_set(place, host)
        self._pages[place // PAGE] = self._page(place // PAGE * PAGE)
        self._head = replace(self._head, serial=self._head.serial + 1)
        self._serve()

    def _page(self, start: int) -> Lines:
        return read_lines(self._sets[start : start + PAGE], lambda _: True)

    def _serve(self) -> None:
        pages = {page.digest: page.lines for page in self._pages}
        content = Content(self._head, self._head.digest_with(pages), pages)
        self._loop.run_until_complete(self._serving.replace(_KEY, content))


def _record_set(number: int, host: str) -> Mapping[str, Any]:
    return {"name": f"h{number}", "type": "A", "ttl": 300, "a": {"addresses": [host]}}


class _Large:
    """A zone from a master file, in which an edit changes one set and the serial."""

    def __init__(self, watched: Watched, folder: Path) -> None:
        write_large_zone(folder / "zone", LARGE)
        zone = watched.catalog.read(folder / "zone", None)
        if zone is None:
            raise RuntimeError("the zone was not read natively")
        self._catalog = watched.catalog
        self._zone: Zone = zone
        self._catalog.replace(zone)

    def __call__(self, place: int, host: str) -> None:
        index = self._zone.index
        before = index.at(index.origin)[6]
        (data,) = before.rdatas
        serial = int.from_bytes(data[-20:-16], "big") + 1
        soa = RRset(before.owner, 6, before.ttl_s, (data[:-20] + serial.to_bytes(4, "big") + data[-16:],))
        owner = WireName(to_wire(f"h{place}.{ORIGIN}"))
        changes = Changes((soa, RRset(owner, 1, 300, (socket.inet_aton(host),))))
        self._zone = recompile(self._zone, index.with_changes(changes), changes)
        self._catalog.replace(self._zone)
