"""Finding the API server, with real TLS where it matters."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import ssl
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kube.config import InCluster, KubeconfigFiles, connect, find_source
from kube.errors import ConfigError, Unauthorized, Unavailable
from kube.resource import ResourceRef
from tests.kube.fake_api import FakeApi, Request, refuse

THINGS = ResourceRef("x.io", "v1", "things", "Thing")


def kubeconfig(path: Path, server: str, user: dict[str, Any] | None = None, **cluster: Any) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "main",
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [
            {"name": "main", "context": {"cluster": "c", "user": "u"}},
            {"name": "anonymous", "context": {"cluster": "c", "user": "nobody"}},
        ],
    }
    path.write_text(yaml.safe_dump(config))
    return path


async def seen(api: FakeApi, **options: Any) -> Request:
    """What the server sees of a connected client."""
    async with connect(**options) as client:
        await client.list(THINGS)
    return api.requests[-1]


# which source


def test_the_named_file_comes_first(tmp_path: Path) -> None:
    named = kubeconfig(tmp_path / "named", "http://x")
    other = kubeconfig(tmp_path / "other", "http://y")
    found = find_source(
        named, {"KUBECONFIG": str(other), "KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "1"}
    )
    assert found == KubeconfigFiles((named,), str(named))


def test_then_the_environment_then_the_pod_then_home(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    home = kubeconfig(tmp_path / ".kube" / "config", "http://x")
    listed = kubeconfig(tmp_path / "listed", "http://y")
    pod = {"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "1"}
    variable = f"{tmp_path}/missing:{listed}:{home}"
    everything = {"HOME": str(tmp_path), "KUBECONFIG": variable, **pod}
    assert find_source(None, everything) == KubeconfigFiles((listed, home), f"KUBECONFIG={variable}")
    assert find_source(None, {"HOME": str(tmp_path), **pod}) == InCluster()
    assert find_source(None, {"HOME": str(tmp_path)}) == KubeconfigFiles((home,), str(home))


def test_without_any_source_the_error_says_what_was_tried(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        connect(environ={"HOME": str(tmp_path), "KUBECONFIG": "/does/not/exist"})
    message = str(caught.value)
    for tried in (
        "KUBECONFIG=/does/not/exist names no file",
        "not in a pod",
        f"{tmp_path}/.kube/config does not exist",
    ):
        assert tried in message
    with pytest.raises(ConfigError, match="KUBECONFIG is not set"):
        connect(environ={"HOME": str(tmp_path)})


def test_a_named_file_that_is_missing_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="found no file at /"):
        connect(tmp_path / "absent")


# kubeconfig files


async def test_token_user(api: FakeApi, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path / "config", api.url, {"token": "secret"})
    request = await seen(api, kubeconfig=file)
    assert request.headers["Authorization"] == "Bearer secret"


async def test_context_chooses_the_user(api: FakeApi, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path / "config", api.url, {"token": "secret"})
    request = await seen(api, kubeconfig=file, context="anonymous")
    assert "Authorization" not in request.headers


async def test_password_user(api: FakeApi, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path / "config", api.url, {"username": "me", "password": "pw"})
    request = await seen(api, kubeconfig=file)
    assert request.headers["Authorization"] == "Basic " + base64.b64encode(b"me:pw").decode()


async def test_files_of_the_environment_are_merged(api: FakeApi, tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.write_text(
        yaml.safe_dump(
            {"current-context": "mine", "contexts": [{"name": "mine", "context": {"cluster": "c", "user": "u"}}]}
        )
    )
    second = kubeconfig(tmp_path / "second", api.url, {"token": "secret"})
    config = yaml.safe_load(second.read_text())
    del config["current-context"]
    second.write_text(yaml.safe_dump(config))
    request = await seen(api, environ={"KUBECONFIG": f"{first}:{second}"})
    assert request.headers["Authorization"] == "Bearer secret"


async def test_proxy_of_the_cluster(api: FakeApi, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path / "config", "http://api.invalid:8080", {"token": "secret"}, **{"proxy-url": api.url})
    request = await seen(api, kubeconfig=file)
    assert (request.headers["Host"], request.path) == ("api.invalid:8080", "/apis/x.io/v1/things")
    assert request.headers["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "text",
        "{}",
        "{current-context: a}",
        "{current-context: a, contexts: [{name: b, context: {cluster: c}}], clusters: [], users: []}",
        "{current-context: a, contexts: [{name: a, context: {cluster: c}}], clusters: [], users: []}",
        "{current-context: a, contexts: [{name: a, context: {cluster: c}}], clusters: [{name: c, cluster: {}}], users: []}",
        "{current-context: a, contexts: [{name: a}], clusters: [{name: c}], users: []}",
    ],
)
async def test_broken_files_are_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken"
    file.write_text(text)
    with pytest.raises(ConfigError, match=f"kubeconfig {file}: "):
        async with connect(file):
            pass


async def test_an_unknown_context_is_named(tmp_path: Path) -> None:
    file = kubeconfig(tmp_path / "config", "http://x")
    with pytest.raises(ConfigError, match="other"):
        async with connect(file, "other"):
            pass


def test_a_context_makes_no_sense_in_a_pod() -> None:
    with pytest.raises(ConfigError, match="context: found 'main'"):
        connect(context="main", environ={"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "1"})


# credential plugins


def plugin(tmp_path: Path, body: str) -> dict[str, Any]:
    script = tmp_path / "plugin.py"
    script.write_text(body)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script)],
            "interactiveMode": "Never",
        }
    }


async def test_plugin_tokens_are_used_and_renewed_when_refused(api: FakeApi, tmp_path: Path) -> None:
    body = f"""
import json, pathlib
counter = pathlib.Path({str(tmp_path / "counter")!r})
number = int(counter.read_text()) + 1 if counter.exists() else 1
counter.write_text(str(number))
credential = {{"token": f"token-{{number}}"}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": credential}}))
"""
    file = kubeconfig(tmp_path / "config", api.url, plugin(tmp_path, body))
    expired = {"Bearer token-1"}
    api.fault(lambda request: refuse(401, "Unauthorized") if request.headers["Authorization"] in expired else None)
    async with connect(file) as client:
        await client.list(THINGS)
        await client.list(THINGS)
    assert [request.headers["Authorization"] for request in api.requests] == [
        "Bearer token-1",
        "Bearer token-2",
        "Bearer token-2",
    ]


@pytest.mark.parametrize("body", ["import sys; sys.exit('no session')", "print('{}')", "print('nonsense')"])
async def test_a_plugin_that_fails_is_no_anonymous_access(api: FakeApi, tmp_path: Path, body: str) -> None:
    file = kubeconfig(tmp_path / "config", api.url, plugin(tmp_path, body))
    with pytest.raises(ConfigError, match="credential plugin"):
        async with connect(file):
            pass
    assert api.requests == []


# TLS


@dataclass(frozen=True)
class Tls:
    """A certificate authority, a certificate for 127.0.0.1 and one for a client."""

    ca: Path
    cert: Path
    key: Path


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    directory = tmp_path_factory.mktemp("tls")
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test ca")])
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)

    def certificate(
        name: x509.Name, public: ec.EllipticCurvePublicKey, *extensions: x509.ExtensionType
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(ca_name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(ca_key, hashes.SHA256())

    ca = certificate(ca_name, ca_key.public_key(), x509.BasicConstraints(ca=True, path_length=0))
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    names = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("api.example")]
    )
    found = Tls(directory / "ca.pem", directory / "cert.pem", directory / "key.pem")
    found.ca.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    found.cert.write_bytes(certificate(name, key.public_key(), names).public_bytes(serialization.Encoding.PEM))
    found.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return found


@pytest.fixture
async def tls_url(tls: Tls) -> Any:
    """A server that wants a client certificate of the same authority."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tls.ca))
    context.load_cert_chain(tls.cert, tls.key)
    context.verify_mode = ssl.CERT_REQUIRED

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"metadata": {"resourceVersion": "1"}, "items": []})

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


def data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


async def test_client_certificates_and_authorities_by_file_and_by_value(tls_url: str, tls: Tls, tmp_path: Path) -> None:
    by_file = kubeconfig(
        tmp_path / "files",
        tls_url,
        {"client-certificate": str(tls.cert), "client-key": str(tls.key)},
        **{"certificate-authority": str(tls.ca)},
    )
    by_value = kubeconfig(
        tmp_path / "values",
        tls_url,
        {"client-certificate-data": data(tls.cert), "client-key-data": data(tls.key)},
        **{"certificate-authority-data": data(tls.ca), "tls-server-name": "api.example"},
    )
    for file in (by_file, by_value):
        async with connect(file) as client:
            assert (await client.list(THINGS)).items == []


async def test_an_unknown_authority_is_refused(tls_url: str, tls: Tls, tmp_path: Path) -> None:
    user = {"client-certificate": str(tls.cert), "client-key": str(tls.key)}
    async with connect(kubeconfig(tmp_path / "config", tls_url, user)) as client:
        with pytest.raises(Unavailable, match="certificate"):
            await client.list(THINGS)


async def test_a_wrong_server_name_is_refused(tls_url: str, tls: Tls, tmp_path: Path) -> None:
    user = {"client-certificate": str(tls.cert), "client-key": str(tls.key)}
    cluster: dict[str, Any] = {"certificate-authority": str(tls.ca), "tls-server-name": "other.example"}
    async with connect(kubeconfig(tmp_path / "config", tls_url, user, **cluster)) as client:
        with pytest.raises(Unavailable, match="certificate"):
            await client.list(THINGS)


async def test_missing_and_broken_certificate_files_are_named(tls: Tls, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pem"
    broken.write_text("nonsense")
    for path in (tmp_path / "absent.pem", broken):
        cluster: dict[str, Any] = {"certificate-authority": str(path)}
        file = kubeconfig(tmp_path / "config", "https://127.0.0.1:1", **cluster)
        with pytest.raises(ConfigError, match=f"kubeconfig {file}: "):
            async with connect(file):
                pass


# in a pod


async def test_service_account_of_the_pod(
    api: FakeApi, tls: Tls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("pod-token\n")
    monkeypatch.setattr("kubernetes.aio.config.incluster_config.SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr("kubernetes.aio.config.incluster_config.SERVICE_CERT_FILENAME", str(tls.ca))
    environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"}
    async with connect(environ=environ) as client:
        with pytest.raises(Unavailable, match="GET https://"):
            await client.list(THINGS)
    token.unlink()
    with pytest.raises(ConfigError, match="service account of the pod"):
        async with connect(environ=environ):
            pass


async def test_a_token_that_was_exchanged_is_read_again_when_the_old_one_is_refused(
    tls: Tls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, whatever a clock says that was set back since the old one was read."""
    seen: list[str] = []
    accepted = "bearer first"

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        if seen[-1] != accepted:
            return web.json_response({"kind": "Status", "reason": "Unauthorized", "code": 401}, status=401)
        return web.json_response({"metadata": {"resourceVersion": "1"}, "items": []})

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls.cert, tls.key)
    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    token = tmp_path / "token"
    token.write_text("first")
    monkeypatch.setattr("kubernetes.aio.config.incluster_config.SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr("kubernetes.aio.config.incluster_config.SERVICE_CERT_FILENAME", str(tls.ca))
    environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(runner.addresses[0][1])}
    try:
        async with connect(environ=environ) as client:
            await client.list(THINGS)
            accepted = "bearer second"
            with pytest.raises(Unauthorized):
                await client.list(THINGS)
            token.write_text("second")
            await client.list(THINGS)
    finally:
        await runner.cleanup()
    assert seen == ["bearer first", "bearer first", "bearer first", "bearer second"]
