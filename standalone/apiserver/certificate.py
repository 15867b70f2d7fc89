"""A certificate authority in the data directory and a server certificate signed by it, for an API beyond loopback.

Owns both files and their renewal. The authority stays, so that kubeconfigs stay good; the server certificate is new at
each start, for the names the server has then. Private keys are readable by their owner only.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_LIFE = timedelta(days=3650)
SERVER_LIFE = timedelta(days=397)
_CLOCK_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Authority:
    """The certificate and key that sign."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def open_authority(directory: Path) -> Authority:
    """Read the authority of a directory, or make one."""
    certificate_path, key_path = directory / "ca.crt", directory / "ca.key"
    if certificate_path.exists() and key_path.exists():
        key = serialization.load_pem_private_key(key_path.read_bytes(), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{key_path} does not hold an elliptic curve key; remove it and {certificate_path}")
        return Authority(x509.load_pem_x509_certificate(certificate_path.read_bytes()), key)
    authority = _new_authority()
    write_private(key_path, _key_pem(authority.key))
    write_private(certificate_path, authority.pem)
    return authority


def server_context(authority: Authority, directory: Path, host: str) -> ssl.SSLContext:
    """A TLS context with a new certificate for every name and address that reaches `host`."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(host, key, authority.certificate.subject, SERVER_LIFE)
    builder = builder.add_extension(x509.SubjectAlternativeName(list(_names(host))), critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    certificate = builder.sign(authority.key, hashes.SHA256())
    path = directory / "server.pem"
    write_private(path, _key_pem(key) + certificate.public_bytes(serialization.Encoding.PEM) + authority.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(path)
    return context


def write_private(path: Path, content: bytes) -> None:
    """Write a file that its owner alone can read; it appears whole or not at all."""
    new_path = path.with_suffix(".new")
    descriptor = os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    new_path.replace(path)


def _new_authority() -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "dns-api")])
    builder = _builder("dns-api", key, name, AUTHORITY_LIFE)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    return Authority(builder.sign(key, hashes.SHA256()), key)


def _builder(
    common_name: str, key: ec.EllipticCurvePrivateKey, issuer: x509.Name, life: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + life)
    )


def _names(host: str) -> Iterable[x509.GeneralName]:
    """The host itself, loopback, and every address of this machine, since `host` may stand for all of them."""
    machine = socket.gethostname()
    yield from (
        x509.DNSName(name) for name in dict.fromkeys(("localhost", machine, socket.getfqdn())) if name.isascii()
    )
    addresses = {"127.0.0.1", "::1"}
    with suppress(OSError):  # a machine that does not know its own name still has the addresses above
        addresses |= {str(found[4][0]).partition("%")[0] for found in socket.getaddrinfo(machine, None)}
    try:
        addresses.add(str(ipaddress.ip_address(host)))
    except ValueError:
        yield x509.DNSName(host)
    yield from (x509.IPAddress(ipaddress.ip_address(address)) for address in sorted(addresses))


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
