"""The data plane in Python: what answers, counts and listens where there is no native one.

Owns how its parts are made for one server. `native` has the other one.
"""

from __future__ import annotations

import socket

from server.answer.matcher import Matcher
from server.answer.policy import AnswerPolicy
from server.answer.rate_limit import RateLimiter
from server.catalog import Catalog
from server.config import Address, RateLimit
from server.listening.service import Service
from server.listening.udp import UdpListener, udp_listener
from server.transfer.message import Packing


class PythonPlane:
    """The parts of one server; `catalog` and `packing` are made with it."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.packing = Packing()

    def keep_up(self) -> None:
        """Do what has to be done now and then."""

    def make_matcher(self, policy: AnswerPolicy) -> Matcher:
        """Return what answers from the catalog."""
        return Matcher(self.catalog, policy)

    def make_limiter(self, config: RateLimit) -> RateLimiter:
        return RateLimiter(config)

    def make_udp_listener(self, sock: socket.socket, address: Address, service: Service) -> UdpListener:
        """Return the listener for a socket that `listen` opened on the address."""
        return udp_listener(sock, address, service)
