"""How long an edit takes from the return of `kubectl apply` until a DNS query shows it.

python -m bench edit
"""

from __future__ import annotations

import json
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import dns.message
import dns.rdatatype

from bench.figure import Figure, median, percentile
from bench.load import load
from bench.manifest import domain, record_set
from bench.product import Product, running

RECORDS: Final = 1000
EDITS: Final = 200
P95_MS: Final = 250.0
LIMIT_S: Final = 10.0


def measure() -> Iterator[Figure]:
    """Yield the latencies of edits in a zone of a thousand record sets."""
    with running() as product:
        load(product.kubeconfig, 1, RECORDS, 120.0)
        latencies = [_edit(product, number) for number in range(EDITS)]
    what = f"edit in a zone of {RECORDS}, kubectl apply to answer"
    yield Figure(f"{what}: median of {EDITS}", 1000 * median(latencies), "ms")
    yield Figure(f"{what}: p95", 1000 * percentile(latencies, 0.95), "ms", P95_MS)
    yield Figure(f"{what}: slowest", 1000 * max(latencies), "ms")


def kubectl() -> str:
    """Return the kubectl beside the interpreter, else the one on the path. Raises FileNotFoundError."""
    own = Path(sys.executable).with_name("kubectl")
    found = str(own) if own.exists() else shutil.which("kubectl")
    if found is None:
        raise FileNotFoundError("kubectl is neither beside the interpreter nor on the path; run `make setup`")
    return found


def _edit(product: Product, number: int) -> float:
    record = random.Random(number).randrange(RECORDS)
    address = f"198.51.{100 + number // 250}.{number % 250 + 1}"
    command = [
        kubectl(),
        "--kubeconfig",
        str(product.kubeconfig),
        "apply",
        "--server-side",
        "--force-conflicts",
        "-f",
        "-",
    ]
    manifest = json.dumps(record_set(0, record, address))
    subprocess.run(command, input=manifest, text=True, check=True, stdout=subprocess.DEVNULL)
    returned = time.monotonic()
    _until_answered(product.dns_port, f"host-{record}.{domain(0)}", address)
    return time.monotonic() - returned


def _until_answered(port: int, name: str, address: str) -> None:
    query = dns.message.make_query(name, dns.rdatatype.A)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.connect(("127.0.0.1", port))
        channel.settimeout(LIMIT_S)
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            channel.send(query.to_wire())
            answer = dns.message.from_wire(channel.recv(4096))
            if any(rdata.to_text() == address for rrset in answer.answer for rdata in rrset):
                return
            time.sleep(0.001)
    raise TimeoutError(f"{name} did not become {address} within {LIMIT_S:g} s")
