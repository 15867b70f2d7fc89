"""What every listener of a server works with, in one value."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from server.answer.matcher import Matcher
from server.answer.rate_limit import RateLimiter
from server.config import Limits
from server.counters import Counters
from server.listening.admission import Admission
from server.network import Networks
from server.observe.exchange import Observer


@dataclass(frozen=True, slots=True)
class Service:
    """The one matcher, and what is counted, bounded and told about its queries.

    `limiter` is None where replies have no limit. `workshop` is where replies are made that take too long for the event loop.
    """

    matcher: Matcher
    counters: Counters
    limits: Limits
    admission: Admission
    limiter: RateLimiter | None = None
    observers: tuple[Observer, ...] = ()
    proxies: Networks = field(default_factory=Networks)
    workshop: Executor = field(default_factory=partial(ThreadPoolExecutor, 1, "dns-long-reply"))
