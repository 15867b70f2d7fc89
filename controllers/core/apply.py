"""What core writes: finalizers of claims, the ledger's parts, claim statuses.

Owns the order of writes. Never decides: it carries out a composition, and every write names the version that it was decided on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import structlog

from controllers.api.group import (
    CORE_FINALIZER,
    PROVIDER_FINALIZER,
    RECONCILE_REQUEST,
    RECORD_SETS,
    ZONE_UNITS,
    ZONES,
)
from controllers.api.patch import Operation, diff, guard
from controllers.api.zone_unit import ZoneUnit, ZoneUnitSpec, part_name
from controllers.core.compose import Composition
from controllers.core.expectation import Expectations
from controllers.core.inputs import ZoneInputs
from controllers.core.shortfall import Shortfall, faults_by_claim, lesser_specs
from controllers.runtime.parallel import in_parallel
from kube.client import Client
from kube.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge
from kube.object import ObjectKey, ObjectMeta
from kube.resource import ResourceRef
from zonemodel.model import Model

_log = structlog.get_logger(__name__)
_Mark = tuple[str, ObjectKey]


class LedgerWriter:
    """Writes on behalf of the composer through one client."""

    def __init__(self, client: Client, expectations: Expectations) -> None:
        self._client = client
        self._expectations = expectations
        self._released: dict[ObjectKey, dict[_Mark, str]] = {}

    async def hold_claims(self, inputs: ZoneInputs, composition: Composition) -> Mapping[ObjectKey, str]:
        """Put the finalizer on the Zone and on every claim whose records are about to stand in the ledger.

        Returns the claims that are not held, with what the API says against it, empty for those that changed meanwhile. Raises KubeError
        when it is the Zone.
        """
        if composition.hold_zone and inputs.zone is not None and _may_be_held(inputs.zone.meta):
            await self._hold(ZONES, inputs.zone.meta)
        return await _left(
            (claim.key, self._hold(RECORD_SETS, claim.meta))
            for claim in inputs.record_sets
            if _may_be_held(claim.meta) and claim.key in composition.hold
        )

    async def release_claims(self, inputs: ZoneInputs, composition: Composition) -> Mapping[ObjectKey, str]:
        """Take the finalizer off deleting claims that nothing stands in the ledger for; returns those that are left, as `hold_claims` does.

        A claim that was let go and that the caches still show is not written a second time, one that changed meanwhile is left for
        the next time.
        """
        leaving = [
            (RECORD_SETS, claim.meta)
            for claim in inputs.record_sets
            if claim.meta.deleting and claim.key not in composition.hold
        ]
        if inputs.zone is not None and inputs.zone.meta.deleting and not composition.hold_zone:
            leaving.append((ZONES, inputs.zone.meta))
        before = self._released.pop(inputs.key, {})
        marks = {_mark(ref, meta): meta.resource_version for ref, meta in leaving}
        released = {mark: version for mark, version in before.items() if marks.get(mark) == version}
        if leaving:
            self._released[inputs.key] = released
        return await _left(
            (meta.key, self._release_once(ref, meta, released))
            for ref, meta in leaving
            if _mark(ref, meta) not in released
        )

    async def write_ledger(self, inputs: ZoneInputs, composition: Composition) -> Mapping[int, Shortfall]:
        """Bring the parts of the ledger to what was composed: first those that hold items, then those that are empty now.

        Returns the parts that the API does not take as they were composed.
        """
        existing = {unit.spec.part: unit for unit in inputs.units}
        shortfalls: dict[int, Shortfall] = {}
        for part, spec in (composition.parts or {}).items():
            unit = existing.get(part)
            try:
                if unit is None:
                    await self._create(inputs, part, spec)
                elif unit.spec != spec or _may_be_held(unit.meta):
                    await self._change(inputs.key, unit, spec)
            except (TooLarge, Invalid) as error:
                faults = faults_by_claim(error, spec)
                stands = await self._write_less(inputs, unit, spec, faults)
                shortfalls[part] = Shortfall(part, error, stands, faults)
        for unit in inputs.units:
            await self._tidy(inputs.key, unit, composition)
        await self._forward_request(inputs)
        return shortfalls

    async def write_status(self, ref: ResourceRef, meta: ObjectMeta, status: Model) -> None:
        """Replace a claim's status; a claim that has gone meanwhile needs none, one that came under its name gets nothing of it."""
        operations: list[Operation] = [
            {"op": "test", "path": "/metadata/uid", "value": meta.uid},
            # `add` replaces what stands there (RFC 6902 section 4.1).
            {"op": "add", "path": "/status", "value": status.dump()},
        ]
        try:
            await self._client.patch_json(
                ref, operations, name=meta.name, namespace=meta.namespace, subresource="status"
            )
        except NotFound:
            return
        except Invalid as error:
            if error.causes or not await self._is_another(ref, meta):
                raise
            raise Conflict(error.message, code=error.code, reason=error.reason) from error

    async def _is_another(self, ref: ResourceRef, meta: ObjectMeta) -> bool:
        """Say whether the object has gone or another one has come under its name: a failed test reads like any other refusal."""
        named = await self._client.list(ref, namespace=meta.namespace, field_selector=f"metadata.name={meta.name}")
        return meta.uid not in {ObjectMeta.parse(each).uid for each in named.items}

    async def _tidy(self, zone: ObjectKey, unit: ZoneUnit, composition: Composition) -> None:
        """Let a part go that is wanted no more: emptied in one round, since only what holds nothing may go, and deleted in the next."""
        emptied = composition.parts is not None and unit.spec.part not in composition.parts
        if unit.meta.deleting:
            if PROVIDER_FINALIZER not in unit.meta.finalizers:
                await self._release(ZONE_UNITS, unit.meta)
        elif composition.delete_units or (emptied and not unit.spec.record_sets):
            await self._delete(zone, unit)
        elif emptied:
            await self._change(zone, unit, unit.spec.model_copy(update={"record_sets": ()}))

    async def _create(self, inputs: ZoneInputs, part: int, spec: ZoneUnitSpec) -> None:
        name = part_name(inputs.key.name, part)
        metadata: dict[str, Any] = {"namespace": inputs.key.namespace, "name": name, "finalizers": [CORE_FINALIZER]}
        if part == 0 and (request := _request_of(inputs)) is not None:
            metadata["annotations"] = {RECONCILE_REQUEST: request}
        manifest = {
            "apiVersion": ZONE_UNITS.api_version,
            "kind": ZONE_UNITS.kind,
            "metadata": metadata,
            "spec": spec.dump(),
        }
        await self._client.create(ZONE_UNITS, manifest)
        self._expectations.wrote(inputs.key, ObjectKey(inputs.key.namespace, name), "")

    async def _change(self, zone: ObjectKey, unit: ZoneUnit, spec: ZoneUnitSpec) -> None:
        operations = [guard(unit.meta.resource_version)]
        if CORE_FINALIZER not in unit.meta.finalizers:
            operations.append(
                {"op": "add", "path": "/metadata/finalizers", "value": [*unit.meta.finalizers, CORE_FINALIZER]}
            )
        operations += diff(unit.spec, spec, "/spec")
        try:
            await self._client.patch_json(ZONE_UNITS, operations, name=unit.meta.name, namespace=unit.meta.namespace)
        except NotFound as error:
            raise _gone(error) from error
        self._expectations.wrote(zone, unit.key, unit.meta.resource_version)

    async def _write_less(
        self, inputs: ZoneInputs, unit: ZoneUnit | None, spec: ZoneUnitSpec, named: Collection[ObjectKey]
    ) -> ZoneUnitSpec | None:
        """Write as much of a part as the API takes, and return what stands there then, None for a part that is not there."""
        old = unit.spec if unit is not None else spec.model_copy(update={"record_sets": ()})
        for lesser in lesser_specs(old, spec, named):
            # A further part is not made for nothing; without a first one, however empty, there is no zone.
            if lesser == old and (unit is not None or spec.part):
                break
            with suppress(TooLarge, Invalid):
                if unit is None:
                    await self._create(inputs, spec.part, lesser)
                else:
                    await self._change(inputs.key, unit, lesser)
                return lesser
        return unit.spec if unit is not None else None

    async def _delete(self, zone: ObjectKey, unit: ZoneUnit) -> None:
        try:
            await self._client.delete(
                ZONE_UNITS,
                name=unit.meta.name,
                namespace=unit.meta.namespace,
                uid=unit.meta.uid,
                resource_version=unit.meta.resource_version,
            )
        except NotFound:
            return
        self._expectations.wrote(zone, unit.key, unit.meta.resource_version)

    async def _forward_request(self, inputs: ZoneInputs) -> None:
        """Copy the Zone's reconcile request to part 0, where the provider looks for it."""
        request = _request_of(inputs)
        unit = next((unit for unit in inputs.units if unit.spec.part == 0), None)
        if request is None or unit is None or unit.meta.annotations.get(RECONCILE_REQUEST) == request:
            return
        patch = {"metadata": {"annotations": {RECONCILE_REQUEST: request}}}
        try:
            await self._client.patch_merge(ZONE_UNITS, patch, name=unit.meta.name, namespace=unit.meta.namespace)
        except NotFound as error:
            raise _gone(error) from error
        except (TooLarge, Invalid) as error:  # a request is a hint, and as large as who makes it likes
            _log.warning("reconcile request refused", zone=str(inputs.key), message=error.message)

    async def _hold(self, ref: ResourceRef, meta: ObjectMeta) -> None:
        try:
            await self._set_finalizers(ref, meta, [*meta.finalizers, CORE_FINALIZER])
        except NotFound as error:
            raise _gone(error) from error

    async def _release_once(self, ref: ResourceRef, meta: ObjectMeta, released: dict[_Mark, str]) -> None:
        await self._release(ref, meta)
        released[_mark(ref, meta)] = meta.resource_version

    async def _release(self, ref: ResourceRef, meta: ObjectMeta) -> None:
        if CORE_FINALIZER in meta.finalizers:
            try:
                await self._set_finalizers(ref, meta, [each for each in meta.finalizers if each != CORE_FINALIZER])
            except NotFound:
                return

    async def _set_finalizers(self, ref: ResourceRef, meta: ObjectMeta, finalizers: list[str]) -> None:
        patch = {"metadata": {"resourceVersion": meta.resource_version, "finalizers": finalizers}}
        await self._client.patch_merge(ref, patch, name=meta.name, namespace=meta.namespace)


async def _left(writes: Iterable[tuple[ObjectKey, Awaitable[None]]]) -> dict[ObjectKey, str]:
    """Run writes of claims and return those that have to be left for the next time, with what was refused of them, empty for a newer state.

    Whoever edits his claim all the time, or has a policy in his namespace that refuses the write, holds up nobody else.
    """
    left: dict[ObjectKey, str] = {}

    async def attempt(key: ObjectKey, write: Awaitable[None]) -> None:
        try:
            await write
        except Conflict:
            left[key] = ""
        except (Forbidden, Invalid) as error:
            _log.warning("finalizer refused", claim=str(key), error=type(error).__name__, message=error.message)
            left[key] = error.message or type(error).__name__

    await in_parallel(attempt(key, write) for key, write in writes)
    return left


def _mark(ref: ResourceRef, meta: ObjectMeta) -> _Mark:
    return ref.kind, meta.key


def _gone(error: NotFound) -> Conflict:
    """An object that the caches show and that has gone was decided on too early, as one that has changed was."""
    return Conflict(error.message, code=error.code, reason=error.reason)


def _may_be_held(meta: ObjectMeta) -> bool:
    """True when the finalizer is missing and can still be put on."""
    return CORE_FINALIZER not in meta.finalizers and not meta.deleting


def _request_of(inputs: ZoneInputs) -> str | None:
    return inputs.zone.meta.annotations.get(RECONCILE_REQUEST) if inputs.zone is not None else None
