"""The native data plane's parts, made for one server.

Owns what the native side of them shares. Importing it needs the extension.
"""

from __future__ import annotations

import socket

from server.answer.matcher import Matcher
from server.answer.policy import AnswerPolicy
from server.answer.rate_limit import RateLimiter
from server.config import Address, RateLimit, ServerConfig
from server.listening.service import Service
from server.listening.udp import UdpListener
from server.plane.catalog import NativeCatalog
from server.plane.limiter import NativeRateLimiter
from server.plane.matcher import NativeMatcher
from server.plane.packing import NativePacking
from server.plane.python import PythonPlane
from server.plane.udp import NativeUdpListener


class NativePlane(PythonPlane):
    """Every UDP socket gets a thread, unless somebody has to be told of every query or proxies stand before the server."""

    def __init__(self, config: ServerConfig) -> None:
        self._native_catalog = NativeCatalog(config.limits.udp_payload_bytes, len(config.listen) * config.udp_sockets)
        self.catalog = self._native_catalog
        self.packing = NativePacking()
        self._places = 0

    def keep_up(self) -> None:
        self._native_catalog.native.collect()

    def make_matcher(self, policy: AnswerPolicy) -> Matcher:
        return NativeMatcher(self._native_catalog, policy)

    def make_limiter(self, config: RateLimit) -> RateLimiter:
        return NativeRateLimiter(config)

    def make_udp_listener(self, sock: socket.socket, address: Address, service: Service) -> UdpListener:
        if service.observers or service.proxies:
            return super().make_udp_listener(sock, address, service)
        self._places += 1
        limiter = service.limiter.native if isinstance(service.limiter, NativeRateLimiter) else None
        return NativeUdpListener(sock, address, service, self._native_catalog.native, limiter, self._places)
