"""A real control plane: etcd, kube-apiserver and those controllers of kube-controller-manager that API behaviour needs.

Owns the processes, which a test kills and starts again on the same ports and the same data, and whom the API server trusts. It has what a
cluster has and the embedded API has not: RBAC, an aggregation layer with a front proxy, and an audit log of what the
product's ServiceAccounts ask for. There is no kubelet: Deployments stay papers, and who answers for a Service is announced by tests.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from standalone.up.kubeconfig import write_kubeconfig
from tests.cluster.program import Program
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.product.patience import until

START_S: Final = 90.0
ANSWER_S: Final = 20.0
HOST: Final = "127.0.0.1"
CONTROLLERS: Final = "namespace-controller,garbage-collector-controller"
PROXY: Final = "front-proxy-client"
ACCOUNTS: Final = "system:serviceaccounts:dns-api-system"
AUDIT_POLICY: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": [ACCOUNTS]}, {"level": "None"}],
}


class ControlPlane:
    """Programs are taken from the folder `programs`; data, logs and keys lie in `folder`. Everything blocks."""

    def __init__(self, programs: Path, folder: Path, audit_log: Path | None = None) -> None:
        self.folder = folder
        self.audit_log = audit_log or folder / "audit.log"
        self.token = secrets.token_hex(16)
        self.port, etcd_port, peer_port = free_ports(3)
        self.kubeconfig = folder / "kubeconfig"
        self._etcd_url = f"http://{HOST}:{etcd_port}"
        self._authority = Authority()
        self._write_keys()
        self.write_kubeconfig(self.kubeconfig, self.token)
        etcd_words = self._etcd_words(f"http://{HOST}:{peer_port}")
        self.etcd = Program([programs / "etcd", *etcd_words], folder / "etcd.log")
        self.api = Program([programs / "kube-apiserver", *self._api_words()], folder / "kube-apiserver.log")
        controllers = [f"--kubeconfig={self.kubeconfig}", f"--controllers={CONTROLLERS}", "--secure-port=0"]
        self.controllers = Program(
            [programs / "kube-controller-manager", *controllers, "--leader-elect=false"],
            folder / "kube-controller-manager.log",
        )

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def ca_pem(self) -> bytes:
        """Whom a client of the API server has to trust."""
        return self._authority.pem

    def start(self) -> None:
        """Start everything and wait until the API server is ready."""
        self.etcd.start()
        until(lambda: self._etcd_answers(), "an answer of etcd", START_S)
        self.start_api()
        self.controllers.start()

    def start_api(self) -> None:
        """Start the API server alone, and wait until it is ready."""
        self.api.start()
        until(self._is_ready, "a kube-apiserver that is ready", START_S)

    def stop(self) -> None:
        for each in (self.controllers, self.api, self.etcd):
            each.end()

    def kill(self) -> None:
        """End everything as a power failure would."""
        for each in (self.etcd, self.api, self.controllers):
            each.end(9)

    def write_kubeconfig(self, path: Path, token: str, port: int | None = None) -> None:
        """Write how to reach the API server with a token, by another port of this host when there is something in between."""
        write_kubeconfig(path, f"https://{HOST}:{port or self.port}", ca_pem=self.ca_pem, token=token)

    def account_token(self, namespace: str, account: str) -> str:
        """Return a fresh token of a ServiceAccount, as a pod is given one."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 7200},
        }
        return str(self.request("POST", path, request)["status"]["token"])

    def compact(self) -> None:
        """Have etcd forget the history, so that a watch which resumes at an older version is told 410 Gone."""
        revision = self._etcd("kv/range", {"key": "AA=="})["header"]["revision"]
        self._etcd("kv/compaction", {"revision": revision, "physical": True})

    def stored_keys(self) -> list[str]:
        """Return the keys of all objects in etcd."""
        found = self._etcd(
            "kv/range", {"key": _base64("/registry/"), "range_end": _base64("/registry0"), "keys_only": True}
        )
        return [base64.b64decode(each["key"]).decode() for each in found.get("kvs", ())]

    def remove(self, key: str) -> None:
        """Remove one object from etcd, whatever holds it."""
        self._etcd("kv/deleterange", {"key": _base64(key)})

    def request(self, method: str, path: str, body: object = None) -> Any:
        """Ask the API server with every right; raises urllib.error.HTTPError where it refuses."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, context=self._context(), timeout=ANSWER_S) as answer:
            text = answer.read()
        return json.loads(text) if text.startswith(b"{") else text

    def _etcd(self, path: str, body: object) -> Any:
        request = urllib.request.Request(f"{self._etcd_url}/v3/{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
            return json.load(answer)

    def _etcd_answers(self) -> bool:
        self.etcd.assert_running()
        try:
            self._etcd("kv/range", {"key": "AA=="})
        except OSError:
            return False
        return True

    def _is_ready(self) -> bool:
        self.api.assert_running()
        try:
            self.request("GET", "/readyz")
        except OSError:
            return False
        return True

    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cadata=self.ca_pem.decode())

    def _write_keys(self) -> None:
        (self.folder / "tokens.csv").write_text(f'{self.token},system:admin,0,"system:masters"\n')
        (self.folder / "service-account.key").write_bytes(_private_key())
        (self.folder / "audit-policy.yaml").write_text(json.dumps(AUDIT_POLICY))
        proxies = Authority()
        (self.folder / "front-proxy-ca.crt").write_bytes(proxies.pem)
        for authority, name, hosts in ((self._authority, "serving", (HOST,)), (proxies, "front-proxy", (PROXY,))):
            pair = ServingPair(self.folder / name)
            pair.directory.mkdir()
            authority.write(pair, 2, *hosts)

    def _etcd_words(self, peer_url: str) -> Sequence[str]:
        return [
            f"--data-dir={self.folder}/etcd",
            f"--listen-client-urls={self._etcd_url}",
            f"--advertise-client-urls={self._etcd_url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=default={peer_url}",
        ]

    def _api_words(self) -> Sequence[str]:
        key = self.folder / "service-account.key"
        return [
            f"--etcd-servers={self._etcd_url}",
            f"--secure-port={self.port}",
            f"--bind-address={HOST}",
            f"--tls-cert-file={self.folder}/serving/tls.crt",
            f"--tls-private-key-file={self.folder}/serving/tls.key",
            f"--token-auth-file={self.folder}/tokens.csv",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            f"--requestheader-client-ca-file={self.folder}/front-proxy-ca.crt",
            f"--requestheader-allowed-names={PROXY}",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={self.folder}/front-proxy/tls.crt",
            f"--proxy-client-key-file={self.folder}/front-proxy/tls.key",
            "--enable-aggregator-routing=true",  # to endpoints: nobody here gives a Service's address a meaning
            f"--audit-policy-file={self.folder}/audit-policy.yaml",
            f"--audit-log-path={self.audit_log}",
        ]


@contextmanager
def running(programs: Path, folder: Path, audit_log: Path | None = None) -> Iterator[ControlPlane]:
    """Run a control plane with an empty etcd for the duration of the block."""
    plane = ControlPlane(programs, folder, audit_log)
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()


def programs() -> Path | None:
    """Return the folder of the programs that DNS_API_KUBE_PROGRAMS names: tests that can run on a real API run there then."""
    named = os.environ.get("DNS_API_KUBE_PROGRAMS")
    return Path(named).absolute() if named else None


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((HOST, 0))
        return [int(each.getsockname()[1]) for each in sockets]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _private_key() -> bytes:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return key.private_bytes(*form)
