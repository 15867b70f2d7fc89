"""What apps work with: the client, the caches of core kinds, and core's judgement on grants.

Apps never import core, so the manager hands these over. Decides nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from controllers.api.provider import Provider
from controllers.api.record_set import RecordSet
from controllers.api.record_withdrawal import RecordWithdrawal
from controllers.api.verdict import Verdict
from controllers.api.zone import Zone
from controllers.runtime.controller import Controller
from controllers.runtime.recorder import EventRecorder
from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectKey, ObjectMeta
from kube.timestamp import utc_now

Grant = Callable[[Zone, Mapping[str, str], str, str], Verdict]
"""Says whether a Zone gives a namespace with these labels a name and record type."""


@dataclass(frozen=True, slots=True)
class AppSurroundings:
    """Given to each app when it is attached to a manager. `withdrawals_of` counts the claims on a Zone."""

    client: Client
    providers: Informer[Provider]
    zones: Informer[Zone]
    record_sets: Informer[RecordSet]
    namespaces: Informer[ObjectMeta]
    withdrawals: Informer[RecordWithdrawal]
    withdrawals_of: Callable[[ObjectKey], int]
    grant: Grant
    recorder: EventRecorder
    wall_clock: Callable[[], datetime] = utc_now
    clock: Callable[[], float] = time.monotonic


Lead = Callable[[], AbstractContextManager[Sequence[Controller[Any]]]]
"""Begins a leadership: the context has the controllers to run, and ends what they follow."""


@dataclass(frozen=True, slots=True)
class AttachedApp:
    """An app in a manager's process. `informers` must be complete before anything runs.

    `optional` ones follow resources that a cluster may not have; the app works once they are complete.
    """

    lead: Lead
    informers: tuple[Informer[Any], ...] = ()
    optional: tuple[Informer[Any], ...] = ()
