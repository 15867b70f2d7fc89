"""Has endpoints converted: posts questions to the API that a capability names, and remembers answers for a while.

An API that cannot be reached is left alone for a moment, so that a thousand endpoints do not wait for it one after the other. Owns
that memory. Never decides what becomes of records.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from controllers.api.endpoint import EndpointReason
from controllers.api.endpoint_conversion import CONVERSION_KIND, ConversionInput, ConversionSpec
from controllers.apps.endpoint.answer import Converted, Unconverted, judge_answer
from kube.backoff import Backoff
from kube.client import Client
from kube.errors import (
    BadRequest,
    Forbidden,
    Invalid,
    KubeError,
    NotFound,
    ResourceNotServed,
    RetryableError,
    Unauthorized,
)
from kube.resource import ResourceRef

_log = structlog.get_logger(__name__)

TIMEOUT_S: Final = 5.0
PARALLEL: Final = 16
REMEMBERED: Final = 20_000
FRESH_S: Final = 600.0
PAUSE: Final = Backoff(first_s=1.0, base_s=2.0, cap_s=30.0)


@dataclass(frozen=True, slots=True)
class _Known:
    answer: Converted
    until: float


@dataclass(slots=True)
class _Outage:
    failures: int
    since: float
    until: float
    answer: Unconverted


class Conversions:
    """Asks for conversions; use one for each leadership."""

    def __init__(self, client: Client, clock: Callable[[], float], *, timeout_s: float = TIMEOUT_S) -> None:
        self._client = client
        self._clock = clock
        self._timeout_s = timeout_s
        self._known: OrderedDict[tuple[ResourceRef, ConversionInput], _Known] = OrderedDict()
        self._outages: dict[ResourceRef, _Outage] = {}
        self._free = asyncio.Semaphore(PARALLEL)

    async def ask(self, api: ResourceRef, given: ConversionInput) -> Converted:
        """Return the fragments of an endpoint, or why there are none. Never raises a KubeError."""
        known = self._known.get((api, given))
        if known is not None and known.until > self._clock():
            return known.answer
        async with self._free:
            outage = self._outages.get(api)
            if outage is not None and outage.until > self._clock():
                return outage.answer
            started = self._clock()
            answer = await self._post(api, given)
        self._note(api, given, answer, started)
        return answer

    def wait_s(self, api: ResourceRef) -> float:
        """Return the seconds until an API that could not be reached is asked again."""
        outage = self._outages.get(api)
        return max(0.1, outage.until - self._clock()) if outage is not None else PAUSE.first_s

    async def _post(self, api: ResourceRef, given: ConversionInput) -> Converted:
        spec = ConversionSpec(uid=str(uuid.uuid4()), input=given)
        question = {"apiVersion": api.api_version, "kind": CONVERSION_KIND, "metadata": {}, "spec": spec.dump()}
        try:
            async with asyncio.timeout(self._timeout_s):
                return judge_answer(spec, await self._client.create(api, question))
        except TimeoutError:
            return _unavailable(api, f"it gave no answer within {self._timeout_s:g} s")
        except KubeError as error:
            return _judge_failure(api, error)

    def _note(self, api: ResourceRef, given: ConversionInput, answer: Converted, started: float) -> None:
        if isinstance(answer, Unconverted) and answer.reason is EndpointReason.CONVERSION_UNAVAILABLE:
            self._note_outage(api, answer, started)
            return
        self._outages.pop(api, None)
        if not isinstance(answer, Unconverted):
            self._known[api, given] = _Known(answer, self._clock() + FRESH_S)
            self._known.move_to_end((api, given))
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def _note_outage(self, api: ResourceRef, answer: Unconverted, started: float) -> None:
        """Questions that were under way together fail together, and count as one failure."""
        before, now = self._outages.get(api), self._clock()
        if before is not None and started < before.since:
            return
        failures = before.failures + 1 if before is not None else 0
        self._outages[api] = _Outage(failures, now, now + PAUSE.delay_s(failures), answer)
        _log.warning("conversion api is unavailable", group=api.group, failures=failures + 1)


def _judge_failure(api: ResourceRef, error: KubeError) -> Unconverted:
    match error:
        case Forbidden() | Unauthorized():
            return Unconverted(EndpointReason.CONVERSION_DENIED, f"The API server lets nobody of ours ask {api.group}.")
        case BadRequest() | Invalid():
            return Unconverted(
                EndpointReason.CONVERSION_INVALID, f"{api.group} refused the question as malformed (HTTP {error.code})."
            )
        case ResourceNotServed() | NotFound():
            return _unavailable(api, f"the API server does not serve {api.plural} of version {api.version}")
        case RetryableError():
            return _unavailable(api, f"HTTP {error.code}" if error.code else "the connection failed")
        case _:
            return Unconverted(
                EndpointReason.CONVERSION_INVALID, f"{api.group} answered in an unexpected way (HTTP {error.code})."
            )


def _unavailable(api: ResourceRef, why: str) -> Unconverted:
    return Unconverted(EndpointReason.CONVERSION_UNAVAILABLE, f"{api.group} cannot be asked at the moment: {why}.")
