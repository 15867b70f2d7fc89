"""NSD, Knot and BIND as processes of a test: on free ports, with all their files in one folder, ended by their own process handles."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.server.process import free_port

SECRET = "c2VjcmV0IG9mIHRyYW5zZmVycyBpbiB0ZXN0cyBvbmx5"
KEY_NAME = "transfer.test"
ALGORITHM = "hmac-sha256"
KEY_LINE = f"{ALGORITHM}:{KEY_NAME}:{SECRET}\n"
END_S = 30.0
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Role:
    """What a daemon does for one zone: pull it from `primary`, or give it out of its own file and tell `secondary`."""

    zone: str
    primary: int | None = None
    secondary: int | None = None


class Daemon(ABC):
    """One name server."""

    def __init__(self, folder: Path, role: Role, port: int) -> None:
        self.folder = folder
        self.role = role
        self.port = port
        self.zone_file = folder / "zone"
        self.config_file = folder / "daemon.conf"
        self.log_file = folder / "daemon.log"
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def configuration(self) -> str:
        """The text of the configuration file."""

    @abstractmethod
    def command(self) -> list[str]:
        """The command that runs it in the foreground."""

    def reload(self) -> None:
        """Have it read its zone file again."""
        assert self.process is not None
        self.process.send_signal(signal.SIGHUP)

    def start(self, zone_text: str | None = None) -> None:
        self.folder.mkdir(exist_ok=True)
        if zone_text is not None:
            self.zone_file.write_text(zone_text)
        self.config_file.write_text(self.configuration())
        with self.log_file.open("wb") as output:
            self.process = subprocess.Popen(self.command(), stdout=output, stderr=output, start_new_session=True)

    def end(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(END_S)

    def kill(self) -> None:
        """End it as a crash would."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(END_S)


class Nsd(Daemon):
    def configuration(self) -> str:
        role = self.role
        if role.primary is not None:
            zone = f"    request-xfr: {HOST}@{role.primary} {KEY_NAME}\n    allow-notify: {HOST} NOKEY\n"
            zone += f"    allow-notify: {HOST} {KEY_NAME}\n"
        else:
            zone = f"    provide-xfr: {HOST} {KEY_NAME}\n    notify: {HOST}@{role.secondary} {KEY_NAME}\n"
            zone += "    notify-retry: 2\n    store-ixfr: yes\n    create-ixfr: yes\n"
        return f"""server:
    ip-address: {HOST}@{self.port}
    username: ""
    chroot: ""
    server-count: 1
    zonesdir: "{self.folder}"
    database: ""
    zonelistfile: "{self.folder}/zone.list"
    xfrdfile: "{self.folder}/xfrd.state"
    xfrdir: "{self.folder}"
    pidfile: "{self.folder}/nsd.pid"
    zonefiles-check: yes
    zonefiles-write: 0
    xfrd-reload-timeout: 0
    verbosity: 2
remote-control:
    control-enable: no
key:
    name: "{KEY_NAME}"
    algorithm: {ALGORITHM}
    secret: "{SECRET}"
zone:
    name: "{role.zone}"
    zonefile: "{self.zone_file}"
{zone}    provide-xfr: {HOST} NOKEY
"""

    def command(self) -> list[str]:
        return ["/usr/sbin/nsd", "-d", "-c", str(self.config_file)]


class Knot(Daemon):
    def configuration(self) -> str:
        role = self.role
        peer = role.primary if role.primary is not None else role.secondary
        if role.primary is not None:
            zone = "    master: peer\n    acl: [notice, keyed, anybody]\n"
        else:
            zone = "    notify: peer\n    acl: [keyed, anybody]\n    journal-content: changes\n    zonefile-load: difference\n"
        return f"""server:
    rundir: "{self.folder}"
    listen: {HOST}@{self.port}
    pidfile: "{self.folder}/knot.pid"
log:
  - target: stderr
    any: info
database:
    storage: "{self.folder}"
key:
  - id: {KEY_NAME}
    algorithm: {ALGORITHM}
    secret: {SECRET}
remote:
  - id: peer
    address: {HOST}@{peer}
    key: {KEY_NAME}
acl:
  - id: notice
    address: {HOST}
    action: notify
  - id: keyed
    address: {HOST}
    key: {KEY_NAME}
    action: [transfer, notify]
  - id: anybody
    address: {HOST}
    action: transfer
template:
  - id: default
    storage: "{self.folder}"
zone:
  - domain: {role.zone}
    file: "{self.zone_file}"
    zonefile-sync: -1
{zone}"""

    def command(self) -> list[str]:
        return ["/usr/sbin/knotd", "-c", str(self.config_file)]


class Bind(Daemon):
    def configuration(self) -> str:
        role = self.role
        if role.primary is not None:
            zone = f"""type secondary; masterfile-format text;
    primaries {{ {HOST} port {role.primary} key "{KEY_NAME}"; }};
    allow-notify {{ {HOST}; }};
    min-refresh-time 1; min-retry-time 1; request-ixfr yes;"""
        else:
            zone = f"""type primary; ixfr-from-differences yes; notify explicit;
    also-notify {{ {HOST} port {role.secondary} key "{KEY_NAME}"; }};
    notify-delay 0;"""
        return f"""options {{
    directory "{self.folder}";
    listen-on port {self.port} {{ {HOST}; }};
    listen-on-v6 {{ none; }};
    pid-file "{self.folder}/named.pid";
    session-keyfile "{self.folder}/session.key";
    managed-keys-directory "{self.folder}";
    recursion no;
    dnssec-validation no;
    empty-zones-enable no;
    allow-transfer {{ {HOST}; }};
    serial-query-rate 100;
    notify-rate 1000;
    startup-notify-rate 1000;
}};
controls {{ }};
key "{KEY_NAME}" {{ algorithm {ALGORITHM}; secret "{SECRET}"; }};
zone "{role.zone}" {{
    file "{self.zone_file}";
    {zone}
}};
"""

    def command(self) -> list[str]:
        return ["/usr/sbin/named", "-g", "-n", "1", "-c", str(self.config_file)]


KINDS: dict[str, Callable[[Path, Role, int], Daemon]] = {"nsd": Nsd, "knot": Knot, "bind": Bind}


@asynccontextmanager
async def running_daemon(
    kind: str, folder: Path, role: Role, zone_text: str | None = None, port: int | None = None
) -> AsyncIterator[Daemon]:
    """Run one; `zone_text` is the zone that it has of its own."""
    daemon = KINDS[kind](folder, role, free_port() if port is None else port)
    daemon.start(zone_text)
    try:
        yield daemon
    finally:
        await asyncio.to_thread(daemon.end)
