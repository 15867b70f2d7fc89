"""NSD, Knot and BIND serving many zones from files, to compare answers with: on free ports, ended by their own process handles."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import dns.exception
import dns.message
import dns.query

from tests.server.process import free_port
from tests.server.question import Target

HOST = "127.0.0.1"
START_S = 60.0
END_S = 30.0

Configuration = Callable[[Path, int, Mapping[str, Path]], str]


def _nsd(folder: Path, port: int, zones: Mapping[str, Path]) -> str:
    head = f"""server:
    ip-address: {HOST}@{port}
    username: ""
    chroot: ""
    server-count: 1
    zonesdir: "{folder}"
    database: ""
    zonelistfile: "{folder}/zone.list"
    xfrdfile: "{folder}/xfrd.state"
    xfrdir: "{folder}"
    pidfile: "{folder}/nsd.pid"
    rrl-ratelimit: 0
    minimal-responses: no
remote-control:
    control-enable: no
"""
    return head + "".join(f'zone:\n    name: "{zone}"\n    zonefile: "{path}"\n' for zone, path in zones.items())


def _knot(folder: Path, port: int, zones: Mapping[str, Path]) -> str:
    head = f"""server:
    rundir: "{folder}"
    listen: {HOST}@{port}
    pidfile: "{folder}/knot.pid"
log:
  - target: stderr
    any: warning
database:
    storage: "{folder}"
template:
  - id: default
    storage: "{folder}"
    semantic-checks: off
    zonefile-sync: -1
    journal-content: none
zone:
"""
    return head + "".join(f'  - domain: {zone}\n    file: "{path}"\n' for zone, path in zones.items())


def _bind(folder: Path, port: int, zones: Mapping[str, Path]) -> str:
    head = f"""options {{
    directory "{folder}";
    listen-on port {port} {{ {HOST}; }};
    listen-on-v6 {{ none; }};
    pid-file "{folder}/named.pid";
    session-keyfile "{folder}/session.key";
    managed-keys-directory "{folder}";
    recursion no;
    dnssec-validation no;
    empty-zones-enable no;
    notify no;
    minimal-responses no-auth-recursive;
    zero-no-soa-ttl no;
    check-integrity no;
    check-sibling no;
    check-mx ignore;
    check-mx-cname ignore;
    check-srv-cname ignore;
    check-names primary ignore;
    check-wildcard no;
}};
controls {{ }};
"""
    return head + "".join(f'zone "{zone}" {{ type primary; file "{path}"; }};\n' for zone, path in zones.items())


PEERS: dict[str, tuple[str, Configuration, tuple[str, ...]]] = {
    "nsd": ("nsd", _nsd, ("-d", "-c")),
    "knot": ("knotd", _knot, ("-c",)),
    "bind": ("named", _bind, ("-g", "-n", "1", "-c")),
}


def program(peer: str) -> str | None:
    """Where its program lies, None when it is not installed."""
    return shutil.which(PEERS[peer][0], path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


@contextmanager
def serving(peer: str, folder: Path, zones: Mapping[str, Path]) -> Iterator[Target]:
    """Run a peer with these zones, by name with the trailing dot."""
    path, port = program(peer), free_port()
    assert path is not None
    _, configuration, arguments = PEERS[peer]
    folder.mkdir()
    file = folder / "peer.conf"
    file.write_text(configuration(folder, port, zones))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([path, *arguments, str(file)], stdout=log, stderr=log)
    try:
        _wait(process, Target(HOST, port), list(zones)[-1], folder / "log")
        yield Target(HOST, port)
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_S)


def _wait(process: subprocess.Popen[bytes], target: Target, zone: str, log: Path) -> None:
    """Wait until it answers for its last zone, or refuses to."""
    query = dns.message.make_query(zone, "SOA", flags=0)
    deadline_s = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < deadline_s:
        try:
            dns.query.udp(query, target.host, 0.2, target.port)
        except (dns.exception.Timeout, OSError):
            continue
        return
    raise AssertionError(f"it does not answer: {log.read_text()[-2000:]}")
