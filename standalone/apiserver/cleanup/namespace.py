"""Empties terminating namespaces, and says in their conditions what still remains.

Owns the end of a namespace: it goes when nothing is in it. Content that is held by finalizers is waited for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from standalone.apiserver.api import Api
from standalone.apiserver.cleanup.worklist import Worklist, together
from standalone.apiserver.delete import DeleteOptions, Propagation, delete
from standalone.apiserver.kinds.builtin import NAMESPACE
from standalone.apiserver.kinds.namespace import FINALIZER
from standalone.apiserver.status import ApiError
from standalone.apiserver.target import NAMESPACE_CONTROLLER, Target
from standalone.apiserver.update import store_or_finish
from standalone.store.record import Event, EventType, Record

JsonObject = dict[str, Any]


class NamespaceCleaner:
    """Follows every event; `run` does the work."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._terminating: set[str] = set()
        self._work = Worklist[str]("namespace termination", self._empty)

    def start(self) -> None:
        """Go on with namespaces that were terminating when the last process ended."""
        for record in self._api.store.records(*NAMESPACE.storage_key):
            self._note(record)

    async def run(self) -> None:
        await self._work.run()

    def follow(self, event: Event) -> None:
        """Note namespaces that began to terminate, and content that went from one that does."""
        key = event.record.key
        if (key.group, key.plural) == NAMESPACE.storage_key:
            if event.type is EventType.DELETED:
                self._terminating.discard(key.name)
            else:
                self._note(event.record)
        elif event.type is EventType.DELETED and key.namespace in self._terminating:
            if self._api.store.is_empty(key.namespace):
                self._work.add(key.namespace)
            else:
                self._work.add_later(key.namespace)  # one look for many that go, not one look for each

    def _note(self, record: Record) -> None:
        if record.terminating and record.key.name not in self._terminating:
            self._terminating.add(record.key.name)
            self._work.add(record.key.name)

    async def _empty(self, name: str) -> None:
        """Delete what is in the namespace; remove the namespace's own finalizer when that is nothing."""
        store = self._api.store
        target = Target(NAMESPACE, name=name)
        record = store.get(target.key)
        if record is None or not record.terminating:
            return
        await store.settled()  # writes that began before it was terminating end before the look at what is in it
        failures = await self._delete_all(list(store.in_namespace(name)))
        remaining = list(store.in_namespace(name))
        async with store.locked(target.key) as record:
            if record is None:
                return
            obj = record.object()
            if remaining:
                conditions = _conditions(
                    remaining, failures, obj.get("status", {}).get("conditions", ()), self._api.now()
                )
                changed = {**obj, "status": {**obj.get("status", {}), "conditions": conditions}}
            else:
                kept = [each for each in obj.get("spec", {}).get("finalizers", ()) if each != FINALIZER]
                changed = {**obj, "spec": {"finalizers": kept} if kept else {}}
            if changed != obj:
                await store_or_finish(self._api, target, changed)
        if failures:
            self._work.add_later(name)

    async def _delete_all(self, records: list[Record]) -> list[str]:
        """Delete all; return the reasons of those that were refused."""
        failures: list[str] = []

        async def work(record: Record) -> None:
            failures.extend(await self._delete(record))

        await together(records, work)
        return failures

    async def _delete(self, record: Record) -> list[str]:
        """Delete one object; the reason when that was refused."""
        if record.terminating:
            return []
        key = record.key
        resource = self._api.registry.lookup_stored(key.group, key.plural)
        if resource is None:
            return [f"{key.plural}.{key.group} is not served"]
        options = DeleteOptions(propagation=Propagation.BACKGROUND, uid=record.uid)
        try:
            await delete(self._api, Target(resource, key.namespace, key.name), options, NAMESPACE_CONTROLLER)
        except ApiError as error:
            return [] if error.code in (404, 409) else [error.message]
        return []


def _conditions(
    remaining: Iterable[Record], failures: list[str], previous: Iterable[JsonObject], now: str
) -> list[JsonObject]:
    """The conditions Kubernetes sets on a terminating namespace (v1 NamespaceCondition)."""
    kinds = Counter(f"{key.plural}.{key.group}" for key in (record.key for record in remaining))
    finalizers = Counter(finalizer for record in remaining for finalizer in record.finalizers)
    resources = ", ".join(f"{kind} has {count} resource instances" for kind, count in sorted(kinds.items()))
    holders = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(finalizers.items()))
    stated = [
        ("NamespaceDeletionDiscoveryFailure", False, "ResourcesDiscovered", "All resources successfully discovered"),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            False,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            False,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        ("NamespaceContentRemaining", True, "SomeResourcesRemain", f"Some resources are remaining: {resources}"),
        ("NamespaceFinalizersRemaining", False, "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
    ]
    if failures:
        message = f"Failed to delete all resource types, {len(failures)} remaining: {'; '.join(failures)}"
        stated[2] = ("NamespaceDeletionContentFailure", True, "ContentDeletionFailed", message)
    if holders:
        message = f"Some content in the namespace has finalizers remaining: {holders}"
        stated[4] = ("NamespaceFinalizersRemaining", True, "SomeFinalizersRemain", message)
    before = {each["type"]: each for each in previous}
    return [_condition(before.get(each[0]), *each, now) for each in stated]


def _condition(
    previous: JsonObject | None, condition_type: str, holds: bool, reason: str, message: str, now: str
) -> JsonObject:
    status = "True" if holds else "False"
    since = previous["lastTransitionTime"] if previous is not None and previous["status"] == status else now
    return {"type": condition_type, "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
