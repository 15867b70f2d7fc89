"""The way to a hosted zone's ownership for a person at a terminal: with the credential that the AWS SDK finds, and no cluster.

Owns the making and the closing. What is read and written goes the way of the controllers.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

from controllers.providers.route53.binding import REQUESTS_PER_S
from controllers.providers.route53.client import Account
from controllers.providers.route53.identity.resource import IdentitySpec
from controllers.providers.route53.ownership.backend import NOBODY, HostedZoneOwnership, reading
from controllers.providers.route53.session import Chain, Sessions
from controllers.providers.route53.throttle import Throttle
from zonemodel.name import Fqdn

REGION: Final = "us-east-1"
"""Where requests to Route 53, which knows no regions, are signed for unless the environment names one."""


@asynccontextmanager
async def open_hosted_zone(zone_id: str) -> AsyncIterator[HostedZoneOwnership]:
    """Have a hosted zone as a backend. Raises UnavailableError and RefusedError when it cannot be looked at."""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or REGION
    sessions = Sessions(None, lambda: datetime.now(UTC))
    throttle = Throttle(REQUESTS_PER_S, time.monotonic)
    with ThreadPoolExecutor(1, thread_name_prefix="route53") as threads:
        account = Account(Chain(NOBODY, IdentitySpec(region=region)), sessions, throttle, threads)
        with reading():
            zone = await account.zone(zone_id)
        yield HostedZoneOwnership(account, zone.id, Fqdn(zone.name))
