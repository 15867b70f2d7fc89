"""Everything of a server that faces its clients: sockets, what answers on them, and who is told.

Owns the one service behind all sockets and its upkeep. Never knows where zones come from.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import structlog

from server.answer.matcher import Matcher
from server.answer.policy import AnswerPolicy, Delegate
from server.config import Address, ServerConfig
from server.counters import Counters
from server.edns.cookie import Cookies, CookieSecretError, read_secrets
from server.edns.reply import OptionReplies
from server.listening.admission import Admission
from server.listening.connection import Connection
from server.listening.listen import Bound, Pair, open_pair, open_tls
from server.listening.service import Service
from server.listening.tcp import TcpListener
from server.listening.tls import Certificate, stamp
from server.listening.udp import UdpListener
from server.observe.dnstap import Dnstap
from server.observe.query_log import QueryLog
from server.plane.python import PythonPlane

_SECOND_S: Final = 1.0
_FILES_PERIOD_S: Final = 10.0

log = structlog.get_logger(__name__)


class Listeners:
    """The addresses of one server."""

    def __init__(self, config: ServerConfig, plane: PythonPlane, delegate: Delegate | None = None) -> None:
        """Raises CookieSecretError, CertificateError or DnstapMissingError."""
        self.counters = Counters()
        self.limiter = plane.make_limiter(config.rate_limit) if config.rate_limit.responses_per_s else None
        self.query_log = QueryLog(config.observation.log_one_in) if config.observation.log_one_in else None
        dnstap = config.observation.dnstap
        self.dnstap = None if dnstap is None else Dnstap(dnstap, config.name, f"dns-api {product_version()}")
        self._config = config
        self._cookies = Cookies(() if config.cookie_secrets is None else read_secrets(config.cookie_secrets))
        self._cookies_seen = self._cookie_stamp()
        self._certificate = None if config.tls is None else Certificate(config.tls)
        self._options = OptionReplies(self._cookies, config.nsid, config.limits.tcp_idle_s)
        self._plane = plane
        self._service = self._make_service(delegate)
        self._pairs: list[Pair] = []
        self._tls: list[Bound] = []
        self._udp: list[UdpListener] = []
        self._tcp: list[TcpListener] = []
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The addresses for UDP and TCP with the ports that were really taken."""
        return tuple(pair.address for pair in self._pairs)

    @property
    def tls_addresses(self) -> tuple[Address, ...]:
        """The addresses for TLS with the ports that were really taken."""
        return tuple(bound.address for bound in self._tls)

    @property
    def matcher(self) -> Matcher:
        """What answers on all addresses."""
        return self._service.matcher

    @property
    def connections(self) -> list[Connection]:
        """The open connections."""
        return [connection for tcp in self._tcp for connection in tcp.connections]

    def tally(self) -> None:
        """Bring the counters up to date."""
        for udp in self._udp:
            udp.tally()

    def bind(self) -> None:
        """Take the addresses; raises ListenError, and `stop` gives back what was taken."""
        for address in self._config.listen:
            self._pairs.append(open_pair(address, self._config.udp_sockets))
        for address in self._config.tls.listen if self._config.tls is not None else ():
            self._tls.append(open_tls(address))

    async def start(self) -> None:
        """Answer."""
        for pair in self._pairs:
            self._tcp.append(TcpListener(pair.tcp, pair.address, self._service))
            self._udp += (self._plane.make_udp_listener(sock, pair.address, self._service) for sock in pair.udp)
        for bound in self._tls:
            self._tcp.append(TcpListener(bound.tcp, bound.address, self._service, self._certificate))
        for tcp in self._tcp:
            await tcp.start()
        for udp in self._udp:
            udp.start()
        self._tasks.append(asyncio.create_task(self._keep_up()))
        self._tasks += (asyncio.create_task(each.run()) for each in (self.query_log, self.dnstap) if each is not None)

    def retire(self) -> None:
        """Ask clients that keep connections open to close them."""
        self._options.end_streams()

    async def stop(self) -> None:
        """Answer what has been asked, then close."""
        self.retire()
        for udp in self._udp:
            udp.stop()
        await asyncio.gather(*(tcp.stop() for tcp in self._tcp))
        if not self._udp:  # never started: nobody else has the sockets
            for pair in self._pairs:
                pair.close()
            for bound in self._tls:
                bound.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self.dnstap is not None:
            await self.dnstap.close()

    def reload(self) -> None:
        """Read certificate and cookie secrets again; what is broken stays as it was, and the log says why."""
        if self._certificate is not None:
            self._certificate.reload()
        self._reload_cookies()

    def _reload_cookies(self) -> None:
        self._cookies_seen = self._cookie_stamp()
        if self._config.cookie_secrets is not None:
            try:
                self._cookies.replace(read_secrets(self._config.cookie_secrets))
            except CookieSecretError as error:
                log.error("cookie secrets are broken, those before stay in use", reason=str(error))

    async def _keep_up(self) -> None:
        """Begin each second of the limiter, let go of old versions, and look for new files now and then."""
        until_files = _FILES_PERIOD_S
        while True:
            await asyncio.sleep(_SECOND_S)
            self._plane.keep_up()
            if self.limiter is not None:
                self.limiter.tick()
            until_files -= _SECOND_S
            if until_files <= 0:
                until_files = _FILES_PERIOD_S
                self._reload_what_was_replaced()

    def _reload_what_was_replaced(self) -> None:
        """Read files again that are others than before: nobody sends a signal into a pod whose Secret has changed."""
        if self._certificate is not None:
            self._certificate.reload_if_replaced()
        if self._cookie_stamp() != self._cookies_seen:
            self._reload_cookies()

    def _cookie_stamp(self) -> tuple[int, int, int] | None:
        path = self._config.cookie_secrets
        return None if path is None else stamp(path)

    def _make_service(self, delegate: Delegate | None) -> Service:
        config = self._config
        policy = AnswerPolicy(config.limits.udp_payload_bytes, self._options, config.chaos, delegate)
        return Service(
            self._plane.make_matcher(policy),
            self.counters,
            config.limits,
            Admission(config.limits, self.counters),
            self.limiter,
            tuple(each for each in (self.query_log, self.dnstap) if each is not None),
            config.proxies,
        )


def product_version() -> str:
    """Return the version that is installed, or what stands for one in a source tree that is not."""
    try:
        return version("dns-api")
    except PackageNotFoundError:
        return "unreleased"
