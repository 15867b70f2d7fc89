"""Addresses that names give up: a RecordWithdrawal is left behind for each, so that nobody reuses one that DNS still points at.

Owns which claims are needed and their making. They are made before the records change, and never changed or deleted here: a person
archives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final

import structlog

from controllers.api.endpoint import (
    MANAGED_BY_LABEL,
    OWNER_NAME_LABEL,
    OWNER_NAMESPACE_LABEL,
    RETIREMENT_ANNOTATION,
)
from controllers.api.group import RECORD_SETS
from controllers.api.record_set import RecordSet, RecordSetSpec
from controllers.api.record_withdrawal import ADDRESS_LABEL, RECORD_WITHDRAWALS, address_label
from controllers.api.record_withdrawal_item import WITHDRAWAL_LIMIT
from controllers.api.reference import ProviderRef
from controllers.api.zone import Zone
from controllers.apps.endpoint.plan import Wanted, digested_name
from controllers.apps.surroundings import AppSurroundings
from controllers.runtime.recorder import EventType
from kube.errors import AlreadyExists, Forbidden, Invalid, NotFound, RetryableError
from kube.object import ObjectKey, ObjectReference

_log = structlog.get_logger(__name__)

OWN_LABELS: Final = (MANAGED_BY_LABEL, OWNER_NAMESPACE_LABEL, OWNER_NAME_LABEL)


@dataclass(frozen=True, slots=True)
class Retired:
    """One address that the name of a RecordSet gives up."""

    record_set: RecordSet
    zone: Zone
    address: str


class Retirement:
    """Leaves claims behind; use one for each leadership."""

    def __init__(self, surroundings: AppSurroundings) -> None:
        self._surroundings = surroundings
        self._unseen: dict[ObjectKey, set[ObjectKey]] = {}
        """Claims on each Zone that are made but not in the cache yet: past the limit all claims on a Zone would be refused."""

    async def leave_claims(self, changes: Iterable[Wanted], removals: Iterable[RecordSet]) -> None:
        """Make the claims for what is about to change. Raises RetryableError, and then nothing may change yet."""
        for retired in self._retired(changes, removals):
            await self._claim(retired)

    def _retired(self, changes: Iterable[Wanted], removals: Iterable[RecordSet]) -> Iterator[Retired]:
        changes, removals = list(changes), list(removals)
        stays = {(_place(each.key.namespace, each.spec), text) for each in changes for text in _addresses(each.spec)}
        for there in (*(each.there for each in changes), *removals):
            if there is None:
                continue
            zone = self._surroundings.zones.get(there.spec.zone_ref.key_from(there.meta.namespace))
            if zone is None or not self._is_wanted(there, zone):
                continue
            place = _place(there.meta.namespace, there.spec)
            yield from (Retired(there, zone, text) for text in _addresses(there.spec) if (place, text) not in stays)

    def _is_wanted(self, there: RecordSet, zone: Zone) -> bool:
        """A Zone that is going would wait for its claims for ever; and not every provider can prove anything."""
        said = (there.meta.annotations.get(RETIREMENT_ANNOTATION), zone.meta.annotations.get(RETIREMENT_ANNOTATION))
        if zone.deleting or "disabled" in said:
            return False
        return self._can_prove(zone.spec.provider) and self._is_granted(there, zone)

    def _is_granted(self, there: RecordSet, zone: Zone) -> bool:
        """What the Zone does not grant it never published, and a claim on it would count against the Zone all the same."""
        if there.meta.namespace == zone.meta.namespace:
            return True
        namespace = self._surroundings.namespaces.get(ObjectKey("", there.meta.namespace))
        if namespace is None:
            return False
        return self._surroundings.grant(zone, namespace.labels, there.spec.name, there.spec.type).accepted

    def _can_prove(self, ref: ProviderRef) -> bool:
        provider = self._surroundings.providers.get(ObjectKey("", ref.name))
        versions = provider.spec.versions if provider is not None else ()
        mine = [each for each in versions if each.name == ref.version or each.storage]
        return bool(mine) and all(each.record_withdrawal is not None for each in mine)

    async def _claim(self, retired: Retired) -> None:
        claim = _manifest(retired)
        key = ObjectKey.parse(claim)
        surroundings = self._surroundings
        if surroundings.withdrawals.get(key) is not None:
            return
        unseen = self._unseen_of(retired.zone.key)
        if key in unseen:
            return
        if surroundings.withdrawals_of(retired.zone.key) + len(unseen) >= WITHDRAWAL_LIMIT:
            self._warn(
                retired, f"Zone {retired.zone.key} has {WITHDRAWAL_LIMIT} RecordWithdrawals, no more are allowed."
            )
            return
        unseen.add(key)
        try:
            await surroundings.client.create(RECORD_WITHDRAWALS, claim)
        except AlreadyExists:
            return
        except RetryableError:
            unseen.discard(key)
            raise
        except (Invalid, Forbidden, NotFound) as error:
            unseen.discard(key)
            _log.warning("withdrawal claim refused", key=str(key), message=error.message)
            self._warn(retired, "The API server refuses a RecordWithdrawal for it.")

    def _unseen_of(self, zone: ObjectKey) -> set[ObjectKey]:
        unseen = self._unseen.setdefault(zone, set())
        unseen -= {key for key in unseen if self._surroundings.withdrawals.get(key) is not None}
        return unseen

    def _warn(self, retired: Retired, why: str) -> None:
        self._surroundings.recorder.event(
            ObjectReference.of(RECORD_SETS, retired.record_set.meta),
            EventType.WARNING,
            "EndpointWithdrawalNotClaimed",
            f"Nobody proves that {retired.address} is given up: {why}",
        )


def _place(namespace: str, spec: RecordSetSpec) -> tuple[ObjectKey, str]:
    return spec.zone_ref.key_from(namespace), spec.name


def _addresses(spec: RecordSetSpec) -> list[str]:
    found = [*(spec.a.addresses if spec.a is not None else ()), *(spec.aaaa.addresses if spec.aaaa is not None else ())]
    return [str(ip_address(each)) for each in found]


def _manifest(retired: Retired) -> dict[str, Any]:
    there, zone = retired.record_set, retired.zone
    name = digested_name(
        f"withdrawal-{there.spec.name.replace('*', 'any').replace('@', 'apex')}",
        (str(zone.key), zone.spec.domain_name, there.spec.name, retired.address),
    )
    return {
        "apiVersion": RECORD_WITHDRAWALS.api_version,
        "kind": RECORD_WITHDRAWALS.kind,
        "metadata": {
            "namespace": there.meta.namespace,
            "name": name,
            "labels": {
                **{label: there.meta.labels[label] for label in OWN_LABELS},
                ADDRESS_LABEL: address_label(retired.address),
            },
        },
        "spec": {
            "zoneRef": {"namespace": zone.meta.namespace, "name": zone.meta.name},
            "provider": zone.spec.provider.dump(),
            "name": there.spec.name,
            "address": retired.address,
        },
    }
