"""When a primary is asked again, and when a zone has been without one for too long (RFC 1034 section 4.3.5).

Owns the bounds on what a SOA record can ask for. Pure; never sleeps.
"""

from __future__ import annotations

import random
from typing import Final

from kube.backoff import Backoff
from server.transfer.serial import Soa

_SHORTEST_S: Final = 1.0
_LONGEST_REFRESH_S: Final = 28 * 86400.0
_LONGEST_RETRY_S: Final = 14 * 86400.0
_WITHOUT_ZONE: Final = Backoff(first_s=1.0, base_s=2.0, cap_s=60.0)


def wait_s(soa: Soa | None, failures: int) -> float:
    """Return how long to wait after so many failures in a row; spread out a little, so that zones do not come all at once.

    Without a zone there are no timers yet: the first attempts follow one another quickly.
    """
    if soa is None:
        return _WITHOUT_ZONE.delay_s(failures - 1)
    longest_s = _retry_s(soa) if failures else _refresh_s(soa)
    return max(longest_s * random.uniform(0.9, 1.0), _SHORTEST_S)


def left_s(soa: Soa, age_s: float) -> float:
    """Return how long a zone may still be served that was last refreshed `age_s` ago; negative when it has expired.

    It never expires before a refresh that was in time can have failed and been repeated once: values that do not fit together must not
    end a zone whose primary is there (RFC 1912 section 2.2).
    """
    return max(soa.expire_s, _refresh_s(soa) + _retry_s(soa)) - age_s


def _refresh_s(soa: Soa) -> float:
    return min(max(soa.refresh_s, _SHORTEST_S), _LONGEST_REFRESH_S)


def _retry_s(soa: Soa) -> float:
    return min(max(soa.retry_s, _SHORTEST_S), _LONGEST_RETRY_S)
