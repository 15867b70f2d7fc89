"""`dns-api server` as a process of its own: a name server that follows the API of a product, or serves master files."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.product.patience import until
from tests.product.product import ROOT, free_port
from tests.server.question import Target

END_S = 20.0
HTTP_S = 5.0


class LoneServer:
    """One name server; its ports stay the same over restarts."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.log = folder / "server.log"
        self.dns = Target("127.0.0.1", free_port())
        self._http_port = free_port()
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it takes questions."""
        command = [sys.executable, "-m", "cli.main", "server", "--listen", f"{self.dns.host}:{self.dns.port}"]
        command += ["--http", f"127.0.0.1:{self._http_port}", *self._options]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        until(self._answers, f"a reply to a health check; the log says {self.log}")

    def kill(self) -> None:
        """End it as a power failure would."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait(END_S)

    def stop(self) -> int:
        """End it in order and return its exit status."""
        process, self._process = self._process, None
        assert process is not None
        process.terminate()
        return process.wait(END_S)

    def readiness(self) -> tuple[int, dict[str, Any]]:
        """The status and body of /readyz."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._http_port}/readyz", timeout=HTTP_S) as reply:
                return int(reply.status), json.load(reply)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log.read_text()
        try:
            self.readiness()
        except OSError:
            return False
        return True


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[LoneServer]:
    """Run a name server whose log lies in `folder`."""
    server = LoneServer(folder, *options)
    server.start()
    try:
        yield server
    finally:
        server.kill()
