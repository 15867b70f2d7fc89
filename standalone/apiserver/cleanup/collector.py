"""The garbage collector: objects go when their owners have gone (api-concepts, "Garbage collection").

Owns what ownerReferences and the two propagation finalizers lead to. An owner that cannot be resolved counts as there:
in doubt nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Awaitable
from enum import Enum, auto
from typing import Any

from standalone.apiserver.api import Api
from standalone.apiserver.cleanup.worklist import Worklist
from standalone.apiserver.delete import (
    FOREGROUND_FINALIZER,
    ORPHAN_FINALIZER,
    DeleteOptions,
    Propagation,
    delete,
)
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.status import ApiError
from standalone.apiserver.target import GARBAGE_COLLECTOR, Target
from standalone.apiserver.update import change
from standalone.store.record import Event, EventType, Key, Record

JsonObject = dict[str, Any]

_WRITE = WriteOptions(manager="kube-controller-manager")


class Standing(Enum):
    """What an owner is to its dependent now."""

    SOLID = auto()
    WAITING = auto()
    """It waits, foreground, for the dependents that block it."""
    ABSENT = auto()
    UNKNOWN = auto()


class Collector:
    """Follows every event; `run` does the work."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._work = Worklist[Key]("garbage collection", self._look_at)

    def start(self) -> None:
        """Look at everything that may have been left undone by an earlier process."""
        for record in self._api.store.all():
            if record.owner_uids or record.terminating:
                self._work.add(record.key)

    async def run(self) -> None:
        await self._work.run()

    def follow(self, event: Event) -> None:
        """Note what an event may concern: the object itself, those it owned, and owners that waited for it."""
        record = event.record
        previous = event.previous
        if event.type is not EventType.DELETED:
            released = previous is not None and previous.owner_uids != record.owner_uids
            if record.terminating or (record.owner_uids and (previous is None or released)):
                self._work.add(record.key)
            if previous is not None and released:
                self._add_owners(previous)
            return
        for dependent in self._api.store.owned_by(record.uid):
            self._work.add(dependent.key)
        if record.owner_uids:
            self._add_owners(record)

    def _add_owners(self, record: Record) -> None:
        for reference in record.object()["metadata"].get("ownerReferences", ()):
            key = self._owner_key(record.key, reference)
            if key is not None:
                self._work.add(key)

    async def _look_at(self, key: Key) -> None:
        record = self._api.store.get(key)
        if record is None:
            return
        target = self._target(record)
        if target is None:
            return
        if record.terminating:
            await self._finish_owner(record, target)
        elif record.owner_uids:
            await self._judge_dependent(record, target)

    async def _finish_owner(self, record: Record, target: Target) -> None:
        """Do what a terminating object's propagation finalizers ask for, and take them off when it is done."""
        dependents = self._api.store.owned_by(record.uid)
        if ORPHAN_FINALIZER in record.finalizers:
            for dependent in dependents:
                await self._release(dependent, {record.uid})
            await self._drop_finalizer(target, ORPHAN_FINALIZER)
        elif FOREGROUND_FINALIZER in record.finalizers:
            for dependent in dependents:
                if not dependent.terminating:
                    await self._delete(dependent, Propagation.FOREGROUND)
            if not any(_blocks(dependent, record.uid) for dependent in self._api.store.owned_by(record.uid)):
                await self._drop_finalizer(target, FOREGROUND_FINALIZER)

    async def _judge_dependent(self, record: Record, target: Target) -> None:
        references = record.object()["metadata"]["ownerReferences"]
        standings = {each["uid"]: self._standing(record.key, each) for each in references}
        found = set(standings.values())
        if Standing.UNKNOWN in found:
            return
        if Standing.SOLID in found:
            gone = {uid for uid, standing in standings.items() if standing is not Standing.SOLID}
            if gone:
                await self._release(record, gone)
            return
        await self._delete(record, Propagation.FOREGROUND if Standing.WAITING in found else None)

    def _standing(self, dependent: Key, reference: JsonObject) -> Standing:
        key = self._owner_key(dependent, reference)
        if key is None:
            return Standing.UNKNOWN
        owner = self._api.store.get(key)
        if owner is None or owner.uid != reference["uid"]:
            return Standing.ABSENT
        waits = owner.terminating and FOREGROUND_FINALIZER in owner.finalizers
        return Standing.WAITING if waits and reference.get("blockOwnerDeletion") else Standing.SOLID

    def _owner_key(self, dependent: Key, reference: JsonObject) -> Key | None:
        """Where the owner is: in the dependent's namespace or cluster-scoped. None when its kind cannot be resolved."""
        resource = self._api.registry.lookup_kind(reference["apiVersion"], reference["kind"])
        if resource is None or (resource.namespaced and not dependent.namespace):
            return None
        return Key(*resource.storage_key, dependent.namespace if resource.namespaced else "", reference["name"])

    def _target(self, record: Record) -> Target | None:
        key = record.key
        resource = self._api.registry.lookup_stored(key.group, key.plural)
        return None if resource is None else Target(resource, key.namespace, key.name)

    async def _delete(self, record: Record, propagation: Propagation | None) -> None:
        target = self._target(record)
        if target is None:
            return
        options = DeleteOptions(propagation=propagation, uid=record.uid)
        await _unless_gone(delete(self._api, target, options, GARBAGE_COLLECTOR))

    async def _release(self, record: Record, owner_uids: set[str]) -> None:
        """Take references to these owners off a dependent."""
        target = self._target(record)
        if target is None:
            return

        def without_owners(live: JsonObject) -> JsonObject:
            kept = [each for each in live["metadata"].get("ownerReferences", ()) if each["uid"] not in owner_uids]
            return {**live, "metadata": {**live["metadata"], "ownerReferences": kept}}

        await _unless_gone(change(self._api, target, without_owners, _WRITE, GARBAGE_COLLECTOR))

    async def _drop_finalizer(self, target: Target, finalizer: str) -> None:
        def without_finalizer(live: JsonObject) -> JsonObject:
            kept = [each for each in live["metadata"].get("finalizers", ()) if each != finalizer]
            return {**live, "metadata": {**live["metadata"], "finalizers": kept}}

        await _unless_gone(change(self._api, target, without_finalizer, _WRITE, GARBAGE_COLLECTOR))


def _blocks(dependent: Record, owner_uid: str) -> bool:
    references = dependent.object()["metadata"].get("ownerReferences", ())
    return any(each["uid"] == owner_uid and each.get("blockOwnerDeletion") for each in references)


async def _unless_gone(write: Awaitable[object]) -> None:
    """Let a write be; an object that is gone, or replaced by another of its name, needs none."""
    try:
        await write
    except ApiError as error:
        if error.code not in (404, 409):
            raise
