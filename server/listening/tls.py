"""TLS for DNS over TLS (RFC 7858): certificates that are replaced while connections stand, and one connection's encryption.

Owns the handshake and the octets between. Never touches a socket.
"""

from __future__ import annotations

import ssl
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from server.config import Tls

_READ_BYTES: Final = 65536

log = structlog.get_logger(__name__)


class CertificateError(Exception):
    """A certificate or key that cannot be used; the message says why."""


class Certificate:
    """The certificate in use; `context` is what new connections begin with, and stays as it is when the files are broken."""

    def __init__(self, config: Tls) -> None:
        """Raises CertificateError."""
        self._config = config
        self._seen = self._stamps()
        self.context = self._load()

    def reload(self) -> None:
        """Read the files again. Broken ones change nothing, and the log says why."""
        self._seen = self._stamps()
        try:
            self.context = self._load()
        except CertificateError as error:
            log.error("certificate is broken, the one before stays in use", reason=str(error))
        else:
            log.info("certificate read again", certificate=str(self._config.certificate))

    def reload_if_replaced(self) -> None:
        """Read the files again when they are others than those last read, as issuers of short-lived certificates leave them."""
        if self._stamps() != self._seen:
            self.reload()

    def _load(self) -> ssl.SSLContext:
        config = self._config
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
        context.set_alpn_protocols(["dot"])
        try:
            context.load_cert_chain(config.certificate, config.key, password=_no_password)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise CertificateError(
                f"cannot use the certificate {config.certificate} with the key {config.key}: {reason}"
            ) from error
        return context

    def _stamps(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(stamp(path) for path in (self._config.certificate, self._config.key))


def _no_password() -> str:
    raise ValueError("the key is encrypted, allowed is a key without a passphrase")


def stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what tells one state of a file from another, None for a file that cannot be seen."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


class TlsChannel:
    """The server's end of one TLS connection. Methods raise ssl.SSLError when the other end does not keep to the protocol."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.at_end = False
        """The client has said that nothing more comes."""
        self.held_bytes = 0
        """What came since anything was made of it: the beginning of a record."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_established = False

    def receive(self, octets: bytes) -> bytes:
        """Take what came over the wire and return what it says; `to_send` may hold something afterwards."""
        self._incoming.write(octets)
        self.held_bytes += len(octets)
        said = bytearray()
        try:
            if not self._is_established:
                self._tls.do_handshake()
                self._is_established = True
                self.held_bytes = 0
            while piece := self._tls.read(_READ_BYTES):
                said += piece
                self.held_bytes = 0
            self.at_end = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.at_end = True
        return bytes(said)

    def seal(self, octets: bytes) -> bytes:
        """Return what says this over the wire."""
        self._tls.write(octets)
        return self.to_send()

    def farewell(self) -> bytes:
        """Return what says that nothing more comes from here."""
        if self._is_established:
            with suppress(ssl.SSLError):  # it wants the other end's farewell too, which we do not wait for
                self._tls.unwrap()
        return self.to_send()

    def to_send(self) -> bytes:
        """Return what the protocol itself has to say over the wire."""
        return self._outgoing.read()
