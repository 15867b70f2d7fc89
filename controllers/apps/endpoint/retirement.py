"""Addresses that names give up: a RecordWithdrawal is left behind for each, so that nobody reuses one that DNS still points at.

Owns which claims are needed and their making. They are made before the records change, and never changed or deleted here: a person
archives them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final

import structlog

from controllers.api.condition import ConditionType, find_condition
from controllers.api.endpoint import (
    MANAGED_BY_LABEL,
    OWNER_NAME_LABEL,
    OWNER_NAMESPACE_LABEL,
    RETIREMENT_ANNOTATION,
)
from controllers.api.group import CORE_FINALIZER, RECORD_SETS
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet, RecordSetSpec
from controllers.api.record_withdrawal import ADDRESS_LABEL, RECORD_WITHDRAWALS, RecordWithdrawal, address_label
from controllers.api.record_withdrawal_item import WITHDRAWAL_LIMIT
from controllers.api.reference import ProviderRef
from controllers.api.zone import Zone
from controllers.apps.endpoint.inputs import PLACE_INDEX, EndpointInputs, absolute_name, place_of
from controllers.apps.endpoint.plan import Wanted, digested_name
from controllers.apps.surroundings import AppSurroundings
from controllers.runtime.recorder import EventType
from kube.errors import AlreadyExists, Forbidden, Invalid, KubeError, NotFound
from kube.object import ObjectKey, ObjectReference
from kube.store import Change

_log = structlog.get_logger(__name__)

OWN_LABELS: Final = (MANAGED_BY_LABEL, OWNER_NAMESPACE_LABEL, OWNER_NAME_LABEL)
HOLDING: Final = (Reason.ACCEPTED, Reason.RECORD_SET_CONFLICT)
"""Reasons of a RecordSet that holds its name, or takes it over once the one that holds it goes."""


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

    async def leave_claims(
        self, inputs: EndpointInputs, changes: Iterable[Wanted], removals: Iterable[RecordSet]
    ) -> None:
        """Make the claims for what is about to change. Raises KubeError, and then nothing may change yet."""
        for retired in self._retired(inputs, list(changes), list(removals)):
            await self._claim(retired)

    def _retired(
        self, inputs: EndpointInputs, changes: Sequence[Wanted], removals: Sequence[RecordSet]
    ) -> Iterator[Retired]:
        """Names count as they are in DNS: one that moves to another zone gives up nothing that it has there, too."""
        stays = {
            (self._name(each.key.namespace, each.spec), text) for each in changes for text in _addresses(each.spec)
        }
        concerned = {each.key for each in changes} | {each.key for each in removals}
        there_now = [each.there for each in changes if each.there is not None]
        for there in (*there_now, *removals):
            zone = inputs.zone_of(there)
            if zone is None or not self._is_wanted(inputs, there, zone):
                continue
            name = absolute_name(there.spec.name, zone)
            for address in _addresses(there.spec):
                if (name, address) not in stays and not self._is_held(there, address, concerned):
                    yield Retired(there, zone, address)

    def _name(self, namespace: str, spec: RecordSetSpec) -> str | None:
        zone = self._surroundings.zones.get(spec.zone_ref.key_from(namespace))
        return absolute_name(spec.name, zone) if zone is not None else None

    def _is_held(self, there: RecordSet, address: str, concerned: Container[ObjectKey]) -> bool:
        """Say whether somebody else's RecordSet of the same name goes on with an address, or will once it is its turn.

        In the same Zone only: what somebody has in a Zone of their own, of the same domain, says nothing about the servers of this one.
        """
        found = self._surroundings.record_sets.by_index(PLACE_INDEX, place_of(there))
        others = (each for each in found if each.key not in concerned and not each.deleting)
        return any(_reason(each) in HOLDING and address in _addresses(each.spec) for each in others)

    def _is_wanted(self, inputs: EndpointInputs, there: RecordSet, zone: Zone) -> bool:
        """A Zone that is going would wait for its claims for ever; and not every provider can prove anything."""
        said = inputs.endpoint.meta.annotations if inputs.endpoint is not None else there.meta.annotations
        if zone.deleting or "disabled" in (
            said.get(RETIREMENT_ANNOTATION),
            zone.meta.annotations.get(RETIREMENT_ANNOTATION),
        ):
            return False
        return self._can_prove(zone.spec.provider) and not _lost(there) and self._is_granted(there, zone)

    def _is_granted(self, there: RecordSet, zone: Zone) -> bool:
        """What the Zone does not grant it never published, and a claim on it would count against the Zone all the same.

        A namespace that has gone since took its endpoint along, whose records were granted.
        """
        owner = there.meta.labels.get(OWNER_NAMESPACE_LABEL, "")
        for name in {there.meta.namespace, owner} - {zone.meta.namespace}:
            namespace = self._surroundings.namespaces.get(ObjectKey("", name))
            if namespace is None and name == there.meta.namespace:
                return False
            labels = namespace.labels if namespace is not None else None
            spec = there.spec
            if labels is not None and not self._surroundings.grant(zone, labels, spec.name, spec.type).accepted:
                return False
        return True

    def _can_prove(self, ref: ProviderRef) -> bool:
        provider = self._surroundings.providers.get(ObjectKey("", ref.name))
        versions = provider.spec.versions if provider is not None else ()
        mine = [each for each in versions if each.name == ref.version or each.storage]
        return bool(mine) and all(each.record_withdrawal is not None for each in mine)

    def note_seen(self, change: Change[RecordWithdrawal]) -> tuple[()]:
        """Note that the cache has a claim, or has had it. Concerns no endpoint."""
        for claim in (change.old, change.new):
            if claim is not None:
                zone = claim.spec.zone_ref.key_from(claim.meta.namespace)
                self._unseen.get(zone, set()).discard(change.key)
        return ()

    async def _claim(self, retired: Retired) -> None:
        """Make a claim unless it is in the cache. One that was made before may have been archived since, unseen."""
        claim = _manifest(retired)
        key = ObjectKey.parse(claim)
        surroundings = self._surroundings
        if surroundings.withdrawals.get(key) is not None:
            return
        unseen = self._unseen.setdefault(retired.zone.key, set())
        if surroundings.withdrawals_of(retired.zone.key) + len(unseen - {key}) >= WITHDRAWAL_LIMIT:
            self._warn(
                retired, f"Zone {retired.zone.key} has {WITHDRAWAL_LIMIT} RecordWithdrawals, no more are allowed."
            )
            return
        unseen.add(key)
        try:
            await surroundings.client.create(RECORD_WITHDRAWALS, claim)
        except AlreadyExists:
            return
        except (Invalid, Forbidden, NotFound) as error:
            unseen.discard(key)
            _log.warning("withdrawal claim refused", key=str(key), message=error.message)
            self._warn(retired, "The API server refuses a RecordWithdrawal for it.")
        except KubeError:
            unseen.discard(key)
            raise

    def _warn(self, retired: Retired, why: str) -> None:
        self._surroundings.recorder.event(
            ObjectReference.of(RECORD_SETS, retired.record_set.meta),
            EventType.WARNING,
            "EndpointWithdrawalNotClaimed",
            f"Nobody proves that {retired.address} is given up: {why}",
        )


def _lost(there: RecordSet) -> bool:
    """Say whether somebody else has the name, so that these records never were in DNS."""
    return _reason(there) == Reason.RECORD_SET_CONFLICT and CORE_FINALIZER not in there.meta.finalizers


def _reason(record_set: RecordSet) -> str | None:
    accepted = find_condition(record_set.status.conditions, ConditionType.ACCEPTED)
    return accepted.reason if accepted is not None else None


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
