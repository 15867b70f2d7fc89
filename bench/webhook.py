"""`dns-api manager` as a process of its own, beside a running product, serving admission over TLS."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from bench.certificate import write_certificate
from bench.product import START_TIMEOUT_S, Product


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where a manager serves admission, and how it is trusted."""

    port: int
    trust: ssl.SSLContext


@contextmanager
def serving(product: Product) -> Iterator[Webhook]:
    """Run a manager on the product's API; the product's own goes on leading."""
    folder = product.folder / "webhook"
    folder.mkdir()
    trust = write_certificate(folder)
    command = [sys.executable, "-m", "cli.main", "manager", "--kubeconfig", str(product.kubeconfig)]
    command += ["--identity", "bench", "--webhook-listen", "127.0.0.1:0", "--webhook-cert-dir", str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        port = _read_port(process.stderr)
        drain = threading.Thread(target=_drain, args=(process.stderr,), daemon=True)
        drain.start()
        yield Webhook(port, trust)
    finally:
        process.terminate()
        process.wait(START_TIMEOUT_S)


def _read_port(stream: IO[str]) -> int:
    seen = []
    for line in stream:
        if "webhook.listening" in line:
            return int(json.loads(line)["port"])
        seen.append(line)
    print("".join(seen), end="", file=sys.stderr)
    raise RuntimeError("dns-api manager ended before it served admission; its errors stand above")


def _drain(stream: IO[str]) -> None:
    for _ in stream:
        pass
