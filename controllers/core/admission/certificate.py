"""The serving certificate of the webhook: loaded from files, and loaded again when they change.

A new pair is tried before it is used, so that files caught between two writes change nothing. Connections that are open keep
the certificate they began with.
"""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Final

import structlog

_log = structlog.get_logger(__name__)

POLL_INTERVAL_S: Final = 10.0


class CertificateError(ValueError):
    """A certificate and key that cannot be used; the text names the files and why."""


class ServingCertificate:
    """A certificate and its key; `context` is what a server listens with."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Load the pair. Raises CertificateError."""
        self._certificate, self._key = certificate, key
        self._client_ca = ""
        self._seen = self._versions()
        self._current = self._load()
        self.context = self._load()
        self.context.sni_callback = self._choose

    def ask_clients(self, ca_pem: str) -> None:
        """From now on ask clients for a certificate of these authorities; who has none may come in too, and is nobody then.

        Raises CertificateError when there is no authority in the text; everything stays as it was then.
        """
        before, self._client_ca = self._client_ca, ca_pem
        try:
            self._current = self._load()
        except CertificateError:
            self._client_ca = before
            raise
        # What a handshake asks for comes from the context that it began with, whom it trusts from the current one.
        self.context.verify_mode = ssl.CERT_OPTIONAL

    def reload(self) -> bool:
        """Load the pair again when its files have changed; say whether a new one is in use."""
        versions = self._versions()
        if versions == self._seen:
            return False
        try:
            self._current = self._load()
        except CertificateError as error:
            _log.warning("webhook.certificate_refused", error=str(error))
            return False
        self._seen = versions
        _log.info("webhook.certificate_reloaded", file=str(self._certificate))
        return True

    async def follow(self, interval_s: float = POLL_INTERVAL_S) -> None:
        """Reload whenever the files change, until cancelled."""
        while True:
            await asyncio.sleep(interval_s)
            self.reload()

    def _choose(self, connection: ssl.SSLObject, server_name: str | None, context: ssl.SSLContext) -> None:
        """Give each new connection the pair that is current: OpenSSL asks at every ClientHello, named or not."""
        connection.context = self._current

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self._certificate, self._key)
        except (OSError, ssl.SSLError) as error:
            raise CertificateError(f"{self._certificate}, {self._key}: {error}") from error
        if self._client_ca:
            context.verify_mode = ssl.CERT_OPTIONAL
            try:
                context.load_verify_locations(cadata=self._client_ca)
            except (ssl.SSLError, ValueError) as error:
                raise CertificateError(f"authorities of clients: {error}") from error
        return context

    def _versions(self) -> tuple[tuple[int, int, int] | None, ...]:
        """What tells one writing of the files from the next; mounted Secrets are swapped by a link, hence the inode."""
        return tuple(_version(path) for path in (self._certificate, self._key))


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)
