"""Faults on demand: which call goes wrong, how, and how often."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum


class Trouble(StrEnum):
    """How a call goes wrong."""

    CUT_BEFORE = "cut before"  # the connection ends and nothing was done
    CUT_AFTER = "cut after"  # the connection ends and everything was done
    HALF_ANSWER = "half answer"  # the connection ends in the middle of the answer
    THROTTLING = "throttling"
    PRIOR_REQUEST = "prior request"
    UNAVAILABLE = "unavailable"
    NO_XML = "no xml"
    SLOW = "slow"
    DENIED = "denied"


@dataclass(slots=True)
class Fault:
    """One kind of trouble for the next `times` calls of an operation (any for ""), after `skip` calls have passed."""

    trouble: Trouble
    operation: str = ""
    times: int = 1
    skip: int = 0
    delay_s: float = 0.5
    retry_after: str | None = None


class Faults:
    """The faults that are due, in the order in which they were planned."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []
        self._lock = threading.Lock()

    def plan(self, *faults: Fault) -> None:
        with self._lock:
            self._planned += faults

    def clear(self) -> None:
        with self._lock:
            self._planned.clear()

    def take(self, operation: str) -> Fault | None:
        """Return the fault of this call, if it has one."""
        with self._lock:
            for fault in self._planned:
                if fault.operation not in {"", operation}:
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                if fault.times <= 0:
                    self._planned.remove(fault)
                return fault
            return None

    @contextmanager
    def lasting(self, trouble: Trouble, operation: str = "") -> Iterator[None]:
        """Have every call of an operation go wrong for a while."""
        fault = Fault(trouble, operation, times=10**9)
        self.plan(fault)
        try:
            yield
        finally:
            with self._lock:
                self._planned.remove(fault)
