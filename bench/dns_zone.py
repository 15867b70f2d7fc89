"""The zone and the queries that name servers are measured with.

10,000 names; of the queries 70 % find an address, 10 % a CNAME, 5 % a wildcard, 10 % no name and 5 % no data, all with EDNS.
"""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Final

from zonemodel.name import to_wire

ORIGIN: Final = "bench.test"
ADDRESSES: Final = 8500
ALIASES: Final = 1000
WILDCARDS: Final = 500
QUERIES: Final = 20_000
A: Final = 1
MX: Final = 15
_SEED: Final = 53
_HEAD: Final = f"$ORIGIN {ORIGIN}.\n$TTL 300\n@ SOA ns1 hostmaster 1 7200 900 1209600 60\n@ NS ns1\nns1 A 192.0.2.1\n"
_OPT: Final = bytes((0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0))


def write_zone(path: Path) -> None:
    """Write the master file."""
    lines = [
        f"$ORIGIN {ORIGIN}.",
        "$TTL 300",
        "@ SOA ns1 hostmaster 1 7200 900 1209600 60",
        "@ NS ns1",
        "ns1 A 192.0.2.1",
    ]
    lines += (f"h{number} A {address(number)}" for number in range(ADDRESSES))
    lines += (f"c{number} CNAME h{number}" for number in range(ALIASES))
    lines += (f"*.w{number} A 10.200.0.1" for number in range(WILDCARDS))
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def write_large_zone(path: Path, records: int) -> None:
    """Write the master file of a zone with so many A records: h0, h1 and so on."""
    with path.open("w", encoding="ascii") as file:
        file.write(_HEAD)
        file.writelines(f"h{number} A {address(number)}\n" for number in range(records))


def write_delegations(path: Path, cuts: int) -> None:
    """Write the master file of a zone like that of a top-level domain: d0, d1 and so on, each delegated to two name servers.

    In turn these are its own, with glue, somebody else's, and those of another delegation.
    """
    with path.open("w", encoding="ascii") as file:
        file.write(_HEAD)
        for number in range(cuts):
            owner, provider = f"d{number}", number // 300 * 300
            match number % 3:
                case 0:
                    first, second = f"ns1.{owner}", f"ns2.{owner}"
                    file.writelines(f"{server} A {address(number)}\n" for server in (first, second))
                case 1:
                    first, second = "a.dns.example.net.", "b.dns.example.net."
                case _:
                    first, second = f"ns1.d{provider}", f"ns2.d{provider}"
            file.write(f"{owner} NS {first}\n{owner} NS {second}\n")


def write_mixed(path: Path, records: int) -> None:
    """Write the master file of a zone with so many records of all common kinds, of which a tenth belong to h0, h1 and so on each."""
    with path.open("w", encoding="ascii") as file:
        file.write(_HEAD)
        for number in range(records // 10):
            host, text = f"h{number}", address(number)
            file.write(
                f"{host} A {text}\n{host} AAAA 2001:db8::{number >> 16:x}:{number & 65535:x}\n{host} MX 10 mx{number % 100}\n"
                f'{host} TXT "v=spf1 -all"\nwww.{host} CNAME {host}\nalias{number} CNAME {host}.cdn.example.net.\n'
                f"*.w{number} A {text}\np{number} PTR {host}\nc{number} NS ns.c{number}\nns.c{number} A {text}\n"
            )


def address(number: int) -> str:
    """Return the address of a host by its number."""
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def write_query_text(path: Path) -> None:
    """Write queries for addresses as dnsperf reads them."""
    choose = random.Random(_SEED)
    path.write_text("".join(f"h{choose.randrange(ADDRESSES)}.{ORIGIN} A\n" for _ in range(QUERIES)), encoding="ascii")


def write_queries(path: Path, kinds: str = "hhhhhhhhhhhhhhccwnnd") -> None:
    """Write queries, each behind its length: h finds an address, c a CNAME, w a wildcard, n no name, d no data."""
    choose = random.Random(_SEED)
    with path.open("wb") as file:
        for number in range(QUERIES):
            query = _query(kinds[number % len(kinds)], choose)
            file.write(struct.pack("!H", len(query)) + query)


def _query(kind: str, choose: random.Random) -> bytes:
    qtype = MX if kind == "d" else A
    if kind == "c":
        owner = f"c{choose.randrange(ALIASES)}"
    elif kind == "w":
        owner = f"x{choose.randrange(100_000)}.w{choose.randrange(WILDCARDS)}"
    elif kind == "n":
        owner = f"no{choose.randrange(100_000)}"
    else:
        owner = f"h{choose.randrange(ADDRESSES)}"
    header = struct.pack("!6H", 0, 0, 1, 0, 0, 1)
    return header + to_wire(f"{owner}.{ORIGIN}") + struct.pack("!HH", qtype, 1) + _OPT
