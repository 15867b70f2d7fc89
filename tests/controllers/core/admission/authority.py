"""A certification authority in memory, for the TLS of test servers."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HASH = hashes.SHA256()
VALIDITY = datetime.timedelta(days=1)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


@dataclass
class ServingPair:
    """Files of a certificate and its key, as a server is given them."""

    directory: Path

    @property
    def certificate(self) -> Path:
        return self.directory / "tls.crt"

    @property
    def key(self) -> Path:
        return self.directory / "tls.key"


class Authority:
    """Signs certificates."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        builder = self._builder(self._name, self._key.public_key())
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        self._certificate = builder.serial_number(1).add_extension(constraints, critical=True).sign(self._key, HASH)

    @property
    def pem(self) -> bytes:
        """The certificate that clients trust."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def write(self, pair: ServingPair, serial: int, host: str = "localhost", *others: str) -> None:
        """Write a new certificate with this serial number for a host, for other names and addresses of it, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        builder = self._builder(subject, key.public_key()).serial_number(serial)
        names = x509.SubjectAlternativeName([_general_name(each) for each in (host, *others)])
        certificate = builder.add_extension(names, critical=False).sign(self._key, HASH)
        pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )

    def client_context(self) -> ssl.SSLContext:
        """Trust in this authority and no other."""
        return ssl.create_default_context(cadata=self.pem.decode())

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder(issuer_name=self._name, subject_name=subject, public_key=key)
            .not_valid_before(now - VALIDITY)
            .not_valid_after(now + VALIDITY)
        )
