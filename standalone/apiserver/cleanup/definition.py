"""Deletes the instances of a CustomResourceDefinition that is being deleted, then lets it go.

Owns the definition's clean-up finalizer. Instances that are held by finalizers are waited for.
"""

from __future__ import annotations

from typing import Any

from standalone.apiserver.api import Api
from standalone.apiserver.cleanup.worklist import Worklist, together
from standalone.apiserver.delete import DeleteOptions, Propagation, delete
from standalone.apiserver.kinds.builtin import CUSTOM_RESOURCE_DEFINITION
from standalone.apiserver.kinds.custom_resource import has_condition
from standalone.apiserver.kinds.definition import FINALIZER
from standalone.apiserver.status import ApiError
from standalone.apiserver.target import DEFINITION_CONTROLLER, Target
from standalone.apiserver.update import store_or_finish
from standalone.store.record import Event, EventType, Record

JsonObject = dict[str, Any]

TERMINATING = "Terminating"


class DefinitionCleaner:
    """Follows every event; `run` does the work."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._terminating: set[str] = set()
        self._work = Worklist[str]("definition termination", self._finish)

    def start(self) -> None:
        """Go on with definitions that were terminating when the last process ended."""
        for record in self._api.store.records(*CUSTOM_RESOURCE_DEFINITION.storage_key):
            self._note(record)

    async def run(self) -> None:
        await self._work.run()

    def follow(self, event: Event) -> None:
        """Note definitions that began to terminate, and instances that went."""
        key = event.record.key
        if (key.group, key.plural) == CUSTOM_RESOURCE_DEFINITION.storage_key:
            if event.type is EventType.DELETED:
                self._terminating.discard(key.name)
            else:
                self._note(event.record)
        elif event.type is EventType.DELETED and self._terminating and not self._api.store.size(key.group, key.plural):
            name = f"{key.plural}.{key.group}"
            if name in self._terminating:
                self._work.add(name)

    def _note(self, record: Record) -> None:
        if record.terminating and record.key.name not in self._terminating:
            self._terminating.add(record.key.name)
            self._work.add(record.key.name)

    async def _finish(self, name: str) -> None:
        store = self._api.store
        target = Target(CUSTOM_RESOURCE_DEFINITION, name=name)
        record = store.get(target.key)
        if record is None or not record.terminating:
            return
        names = record.object()["spec"]
        group, plural = names["group"], names["names"]["plural"]
        await store.settled()  # creates that began before it was terminating end before the look at its instances
        if instances := store.records(group, plural):
            await self._tell(target)
        await together(instances, self._delete)
        if store.size(group, plural):
            return
        async with store.locked(target.key) as record:
            if record is None:
                return
            obj = record.object()
            kept = [each for each in obj["metadata"].get("finalizers", ()) if each != FINALIZER]
            obj["metadata"]["finalizers"] = kept
            await store_or_finish(self._api, target, obj)

    async def _tell(self, target: Target) -> None:
        """Say in the definition's conditions that its instances go."""
        async with self._api.store.locked(target.key) as record:
            if record is None or has_condition(obj := record.object(), TERMINATING):
                return
            message = "CustomResource deletion is in progress"
            told = {"type": TERMINATING, "status": "True", "lastTransitionTime": self._api.now()}
            told |= {"reason": "InstanceDeletionInProgress", "message": message}
            obj["status"]["conditions"] = [*obj["status"].get("conditions", ()), told]
            await self._api.store.put(target.key, obj)

    async def _delete(self, instance: Record) -> None:
        key = instance.key
        resource = self._api.registry.lookup_stored(key.group, key.plural)
        if instance.terminating or resource is None:
            return
        options = DeleteOptions(propagation=Propagation.BACKGROUND, uid=instance.uid)
        try:
            await delete(self._api, Target(resource, key.namespace, key.name), options, DEFINITION_CONTROLLER)
        except ApiError as error:
            if error.code not in (404, 409):
                raise
