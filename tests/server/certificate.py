"""Certificates for tests, each with a key of its own."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NAME = "dns.test"


def write_certificate(folder: Path, serial: int) -> tuple[Path, Path]:
    """Write a self-signed certificate with that serial number and its key; return both paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), serial, now - timedelta(days=1), now + timedelta(days=1)
    )
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    files = folder / "tls.crt", folder / "tls.key"
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return files


def client_context(certificate: Path) -> ssl.SSLContext:
    """A client that trusts this certificate and offers what DNS over TLS is called (RFC 7858)."""
    context = ssl.create_default_context(cafile=str(certificate))
    context.set_alpn_protocols(["dot"])
    return context


def serial_of(connection: ssl.SSLSocket) -> int:
    """The serial number of the certificate that the server showed."""
    der = connection.getpeercert(binary_form=True)
    assert der is not None
    return x509.load_der_x509_certificate(der).serial_number
