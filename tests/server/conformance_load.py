"""`conformance_load.py PORT FILE...`: serve exactly these master files on 127.0.0.1:PORT, for suites that load zones by command.

Exit status 0 once every zone answers, 1 with the reason on standard error when the server refuses one. Without files, only the
server of an earlier call is ended. State lies in a folder of the port below the temporary directory, or in CONF_STATE.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_S = 60.0
END_S = 10.0


def main(port: int, files: list[str]) -> int:
    state = Path(os.environ.get("CONF_STATE") or tempfile.gettempdir()) / f"dns-api-conformance-{port}"
    state.mkdir(parents=True, exist_ok=True)
    pid_file = state / "pid"
    _end(pid_file)
    return _start(port, files, state, pid_file) if files else 0


def _start(port: int, files: list[str], state: Path, pid_file: Path) -> int:
    ready, ready_write = os.pipe()
    command = [sys.executable, "-m", "server", "--listen", f"127.0.0.1:{port}", "--ready-fd", str(ready_write)]
    for file in files:
        command += ["--zonefile", str(Path(file).resolve())]
    log = state / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(ready_write,),
            start_new_session=True,
        )
    os.close(ready_write)
    pid_file.write_text(str(server.pid))
    readable, _, _ = select.select([ready], [], [], START_S)
    if readable and os.read(ready, 1):
        return 0
    print(log.read_text()[-2000:], file=sys.stderr)
    return 1


def _end(pid_file: Path) -> None:
    """End the server of an earlier call, which the pid file names and its command line confirms."""
    try:
        pid = int(pid_file.read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return
    if b"--ready-fd" not in command:
        return
    pidfd = os.pidfd_open(pid)
    signal.pidfd_send_signal(pidfd, signal.SIGTERM)
    if not select.select([pidfd], [], [], END_S)[0]:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        select.select([pidfd], [], [], END_S)
    os.close(pidfd)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), sys.argv[2:]))
