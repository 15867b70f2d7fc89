"""One name server inside an event loop: its listeners, its zones and its sources, started and stopped together.

Owns their order. Never reads flags or the environment, and takes no signals: whoever runs the process does.
"""

from __future__ import annotations

import structlog

from server.catalog import Catalog
from server.config import Address, ServerConfig
from server.counters import Counters
from server.listen import Pair, open_pair
from server.matcher import Matcher
from server.tcp import TcpListener
from server.udp import UdpListener
from server.zone_files import ZoneFiles

log = structlog.get_logger()


class NameServer:
    """Answers from `start` to `stop` on the running event loop."""

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self.catalog = Catalog()
        self.counters = Counters()
        self._udp: list[UdpListener] = []
        self._tcp: list[TcpListener] = []
        self._zone_files = ZoneFiles(config.zone_files, self.catalog)
        self._addresses: tuple[Address, ...] = ()

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The DNS addresses in use, in the order of the configuration, with the ports that were really taken."""
        return self._addresses

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports of `addresses`."""
        return tuple(address.port for address in self._addresses)

    async def start(self) -> None:
        """Load what there is to load, then listen. Raises ListenError, and ZoneFileError when a master file is broken."""
        pairs = [open_pair(address) for address in self._config.listen]
        self._zone_files.load()
        self.catalog.complete = self._config.client is None
        self._addresses = tuple(pair.address for pair in pairs)
        for pair in pairs:
            await self._listen(pair)
        log.info("name server listens", addresses=[str(address) for address in self._addresses])

    async def stop(self) -> None:
        """Answer what has been asked, then close."""
        for udp in self._udp:
            udp.stop()
        for tcp in self._tcp:
            await tcp.stop()

    def reload(self) -> None:
        """Read the master files again; one that is broken keeps its old zone."""
        self._zone_files.reload()

    async def _listen(self, pair: Pair) -> None:
        matcher = Matcher(self.catalog, self._config.limits.udp_payload_bytes)
        udp = UdpListener(pair.udp, matcher, self.counters)
        tcp = TcpListener(pair.tcp, matcher, self.counters, self._config.limits)
        await tcp.start()
        udp.start()
        self._udp.append(udp)
        self._tcp.append(tcp)
