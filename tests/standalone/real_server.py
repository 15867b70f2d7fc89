"""Runs the API tests against a real kube-apiserver: `python -m tests.standalone.real_server DIRECTORY [pytest argument ...]`.

Builds kube-apiserver, kube-controller-manager and etcd from their Go modules into DIRECTORY when they are not there yet
(needs `go`, and some minutes the first time), starts them on free ports with an empty etcd, and runs pytest on this
folder with DNS_API_KUBE_URL and DNS_API_KUBE_TOKEN set. Ends what it started.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.error import URLError

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

KUBERNETES_VERSION = "v1.37.2"
ETCD_VERSION = "v3.7.3"
START_TIMEOUT_S = 90.0
CONTROLLERS = "namespace-controller,garbage-collector-controller"

_KUBERNETES_MAIN = """package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/{program}/app"
)

func main() {{ os.Exit(cli.Run(app.{constructor}())) }}
"""
_ETCD_MAIN = """package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
"""
_CONSTRUCTORS = {"kube-apiserver": "NewAPIServerCommand", "kube-controller-manager": "NewControllerManagerCommand"}


def build(directory: Path) -> None:
    """Make the three programs in `directory/bin` unless they are there. Raises CalledProcessError."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    wanted = [program for program in (*_CONSTRUCTORS, "etcd") if not (directory / "bin" / program).exists()]
    for program in wanted:
        print(f"building {program}; this takes some minutes", flush=True)
        source = directory / "source" / program
        source.mkdir(parents=True, exist_ok=True)
        if program == "etcd":
            _write_etcd_module(source)
        else:
            _write_kubernetes_module(go, source, program)
        subprocess.run([go, "build", "-o", str(directory / "bin" / program), "."], cwd=source, env=_go(), check=True)


def _write_etcd_module(source: Path) -> None:
    (source / "main.go").write_text(_ETCD_MAIN)
    requirement = f"require go.etcd.io/etcd/server/v3 {ETCD_VERSION}"
    (source / "go.mod").write_text(f"module example.com/etcd\n\ngo 1.26\n\n{requirement}\n")


def _write_kubernetes_module(go: str, source: Path, program: str) -> None:
    """Kubernetes' own requirements, with the parts it stages in its tree taken from where they are published."""
    (source / "main.go").write_text(_KUBERNETES_MAIN.format(program=program, constructor=_CONSTRUCTORS[program]))
    download = [go, "mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES_VERSION}"]
    found = json.loads(subprocess.run(download, cwd=source, env=_go(), capture_output=True, check=True).stdout)
    module = Path(found["GoMod"]).read_text()
    staged = KUBERNETES_VERSION.replace("v1.", "v0.", 1)
    module = re.sub(r"^module .*", f"module example.com/{program}", module, flags=re.MULTILINE)
    module = re.sub(r"(k8s\.io/[a-z-]+) => \./staging/src/k8s\.io/[a-z-]+", rf"\1 => \1 {staged}", module)
    module = module.replace("require (", f"require (\n\tk8s.io/kubernetes {KUBERNETES_VERSION}", 1)
    (source / "go.mod").write_text(module)


def _go() -> dict[str, str]:
    return os.environ | {"GOFLAGS": "-mod=mod"}


@contextmanager
def running(programs: Path, directory: Path) -> Iterator[tuple[str, str]]:
    """The URL and token of a control plane that runs for the duration of the block, its state and logs in `directory`."""
    token, api_port, etcd_port, peer_port = secrets.token_hex(16), *_free_ports(3)
    url, etcd_url = f"https://127.0.0.1:{api_port}", f"http://127.0.0.1:{etcd_port}"
    (directory / "tokens.csv").write_text(f'{token},system:admin,0,"system:masters"\n')
    (directory / "service-account.key").write_bytes(_private_key())
    (directory / "kubeconfig").write_text(json.dumps(_kubeconfig(url, token)))
    with ExitStack() as stack:
        peer_url = f"http://127.0.0.1:{peer_port}"
        etcd = [
            f"--data-dir={directory}/etcd",
            f"--listen-client-urls={etcd_url}",
            f"--advertise-client-urls={etcd_url}",
        ]
        etcd += [f"--listen-peer-urls={peer_url}", f"--initial-advertise-peer-urls={peer_url}"]
        etcd += [f"--initial-cluster=default={peer_url}"]
        stack.enter_context(_process(programs / "etcd", etcd, directory))
        _wait_for(etcd_port)
        stack.enter_context(
            _process(programs / "kube-apiserver", _api_arguments(directory, api_port, etcd_url), directory)
        )
        _wait_until_ready(url, token)
        manager = [f"--kubeconfig={directory}/kubeconfig", f"--controllers={CONTROLLERS}", "--secure-port=0"]
        stack.enter_context(
            _process(programs / "kube-controller-manager", [*manager, "--leader-elect=false"], directory)
        )
        yield url, token


def _api_arguments(directory: Path, port: int, etcd_url: str) -> list[str]:
    key = directory / "service-account.key"
    return [
        f"--etcd-servers={etcd_url}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={directory}/certificates",
        f"--token-auth-file={directory}/tokens.csv",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC",
        "--disable-admission-plugins=ServiceAccount",
    ]


@contextmanager
def _process(program: Path, arguments: Sequence[str], directory: Path) -> Iterator[None]:
    with (directory / f"{program.name}.log").open("wb") as log:
        process = subprocess.Popen([program, *arguments], stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing listens on port {port}")
        time.sleep(0.1)


def _wait_until_ready(url: str, token: str) -> None:
    request = urllib.request.Request(f"{url}/readyz", headers={"Authorization": f"Bearer {token}"})
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            with urllib.request.urlopen(request, context=context, timeout=5):
                return
        except (URLError, OSError) as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"kube-apiserver is not ready: {error}") from error
        time.sleep(0.5)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _private_key() -> bytes:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return key.private_bytes(*form)


def _kubeconfig(url: str, token: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": {"server": url, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "real", "user": {"token": token}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "real"}}],
        "current-context": "real",
    }


def main() -> int:
    """Build, start, test, stop; the exit code is that of pytest."""
    directory, arguments = Path(sys.argv[1]).absolute(), sys.argv[2:]
    build(directory)
    tests = sorted(str(path) for path in Path(__file__).parent.glob("test_*.py"))
    with tempfile.TemporaryDirectory() as state, running(directory / "bin", Path(state)) as (url, token):
        environment = os.environ | {"DNS_API_KUBE_URL": url, "DNS_API_KUBE_TOKEN": token}
        command = [sys.executable, "-m", "pytest", "--timeout", "300", *(arguments or tests)]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
