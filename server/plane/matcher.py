"""The matcher that asks native code first.

Owns that order. What the native matcher leaves, the Python one answers.
"""

from __future__ import annotations

from server.answer.matcher import Matcher
from server.answer.policy import AnswerPolicy
from server.plane.catalog import NativeCatalog
from server.transport import Reply, Transport


class NativeMatcher(Matcher):
    """Answers from the tables of a native catalog, whose payload limit is the policy's.

    `answer_datagram` is Python's alone: what comes over UDP has been through the native matcher before.
    """

    __slots__ = ("_native",)

    def __init__(self, catalog: NativeCatalog, policy: AnswerPolicy | None = None) -> None:
        policy = policy or AnswerPolicy()
        super().__init__(catalog, policy)
        self.answer_datagram = super().answer  # type: ignore[assignment]  # every reply is one message at once
        self._native = catalog.native.answer
        policy.options.cookies.follow(catalog.native.set_cookie_secrets)

    def answer(self, packet: bytes, client: str, transport: Transport = Transport.UDP) -> Reply:
        reply = self._native(packet, client, transport is not Transport.UDP)
        return super().answer(packet, client, transport) if reply is None else reply
