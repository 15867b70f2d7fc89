"""A name server process for tests: started on a free port, ended by its own process handle."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from server.config import Address
from server.listening.listen import open_pair
from tests.server.question import Target

ROOT = Path(__file__).resolve().parents[2]
START_S = 60.0
END_S = 30.0


@dataclass
class ServerProcess:
    target: Target
    process: subprocess.Popen[bytes]
    log: Path

    def reload(self) -> None:
        self.process.send_signal(signal.SIGHUP)

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(END_S)


def free_port() -> int:
    """A port that is free for UDP and TCP now, for programs that cannot be asked which one they took."""
    pair = open_pair(Address("127.0.0.1", 0))
    pair.close()
    return pair.address.port


@contextmanager
def serving(zone_files: Sequence[Path], folder: Path, *options: str) -> Iterator[ServerProcess]:
    """Run `python -m server` on the files, with further options; its log lies in `folder`."""
    ready, ready_write = os.pipe()
    command = [sys.executable, "-m", "server", "--listen", "127.0.0.1:0", "--ready-fd", str(ready_write), *options]
    for file in zone_files:
        command += ["--zonefile", str(file)]
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, pass_fds=(ready_write,))
    os.close(ready_write)
    try:
        readable, _, _ = select.select([ready], [], [], START_S)
        address = os.read(ready, 1000).decode() if readable else ""
        assert address, f"the server did not start: {log.read_text()}"
        host, _, port = address.split()[0].rpartition(":")
        yield ServerProcess(Target(host, int(port)), process, log)
    finally:
        os.close(ready)
        if process.poll() is None:
            process.kill()
            process.wait(END_S)
