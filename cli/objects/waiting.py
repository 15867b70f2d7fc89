"""Waits until objects reach a goal, and tells meanwhile what they wait for.

Owns deadlines and progress lines. Never changes an object.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

import typer

from cli.api.condition import Goal
from cli.api.connection import complain
from cli.api.follow import Change, Scope, follow
from cli.api.kind import Kind, Wanted
from cli.api.refusal import CommandError
from kube.client import Client
from kube.object import ObjectKey

FIRST_PROGRESS_S: Final = 1.0
REPEATED_PROGRESS_S: Final = 30.0
SEPARATE_WATCHES: Final = 16
MAX_COMPLAINTS: Final = 20


@dataclass(frozen=True, slots=True)
class Subject:
    """One object, called `zone.dns.appthrust.io/example` in messages."""

    kind: Kind
    key: ObjectKey

    def __str__(self) -> str:
        return f"{self.kind.label}/{self.key.name}"


async def find_subjects(client: Client, words: Iterable[Wanted], namespace: str, selector: str | None) -> list[Subject]:
    """Return the named objects, whether they exist or not, and all there are of kinds without names.

    An empty namespace means all. Raises CommandError when a name has no one namespace, or a selector beside it; KubeError.
    """
    found: list[Subject] = []
    for kind, name in ((wanted.kind, wanted.name) for wanted in words):
        where = namespace if kind.ref.namespaced else ""
        if name and selector:
            raise CommandError(f"found the name {name!r} and the selector {selector!r}: give one of them")
        if not name:
            listed = await client.list(kind.ref, namespace=where, label_selector=selector)
            found += [Subject(kind, ObjectKey.parse(obj)) for obj in listed.items]
        elif kind.ref.namespaced and not where:
            raise CommandError(f"{kind.ref.plural} {name!r}: a name is looked up in one namespace: give -n, not -A")
        else:
            found.append(Subject(kind, ObjectKey(where, name)))
    return found


@dataclass(slots=True)
class Vigil:
    """The objects that are waited for. `pending` says what each lacks, `failed` why an object can never reach the goal."""

    goal: Goal
    pending: dict[Subject, str]
    uids: Mapping[Subject, str] = field(default_factory=dict)
    failed: dict[Subject, str] = field(default_factory=dict)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    trouble: str = ""

    def see(self, kind: Kind, changes: Iterable[Change]) -> None:
        """Judge what objects have become. An object with another uid is another object: the one waited for is gone."""
        self.trouble = ""
        for key, obj in changes:
            subject = Subject(kind, key)
            if subject in self.pending:
                self._judge(subject, obj)

    def missing_from(self, kind: Kind, seen: set[ObjectKey], namespace: str) -> None:
        """Take those that a whole listing does not hold as gone."""
        absent = [
            each
            for each in self.pending
            if each.kind == kind and (not namespace or each.key.namespace == namespace) and each.key not in seen
        ]
        self.see(kind, [Change(each.key, None) for each in absent])

    def _judge(self, subject: Subject, obj: Mapping[str, Any] | None) -> None:
        uid = self.uids.get(subject)
        if obj is not None and uid is not None and obj["metadata"]["uid"] != uid:
            obj = None
        verdict = self.goal.judge(obj)
        if not verdict.reached and not verdict.hopeless:
            self.pending[subject] = verdict.missing
            return
        del self.pending[subject]
        if verdict.hopeless:
            self.failed[subject] = verdict.missing
        else:
            typer.echo(f"{subject} {self.goal.done}")
        if not self.pending:
            self.ended.set()


async def wait_until(
    client: Client, subjects: Sequence[Subject], goal: Goal, timeout_s: float, uids: Mapping[Subject, str] | None = None
) -> dict[Subject, str]:
    """Wait for all; return what those lack that have not reached the goal in time, or never can.

    Prints each object as it reaches the goal, and from the first second on what the others wait for. `uids` fixes which objects are
    meant, where names may be taken again. Raises the KubeError of the first listing.
    """
    vigil = Vigil(goal, dict.fromkeys(subjects, "not seen yet"), uids or {})
    if not subjects:
        return {}
    watchers = [asyncio.create_task(_watch(client, scope, kind, vigil)) for kind, scope in _scopes(subjects)]
    progress = asyncio.create_task(_tell(vigil))
    ended = asyncio.create_task(vigil.ended.wait())
    try:
        await asyncio.wait({ended, *watchers}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        for watcher in watchers:
            if watcher.done():
                watcher.result()
    finally:
        for task in (progress, ended, *watchers):
            task.cancel()
        await asyncio.gather(progress, ended, *watchers, return_exceptions=True)
    silence = f"; the API does not answer: {vigil.trouble}" if vigil.trouble else ""
    return vigil.failed | {subject: missing + silence for subject, missing in vigil.pending.items()}


def complain_of(unmet: Mapping[Subject, str], standing: str) -> None:
    """Tell what the first of many objects lack, `zone.dns.appthrust.io/x is not Programmed: …`, and how many there are more."""
    for subject, missing in list(unmet.items())[:MAX_COMPLAINTS]:
        complain(f"{subject} {standing}: {missing}")
    if len(unmet) > MAX_COMPLAINTS:
        complain(f"and {len(unmet) - MAX_COMPLAINTS:,} more")


def _scopes(subjects: Sequence[Subject]) -> list[tuple[Kind, Scope]]:
    """Return what to watch: one object, or all of its kind in its namespace, or in all where there are many namespaces."""
    groups: dict[tuple[Kind, str], list[str]] = {}
    for each in subjects:
        groups.setdefault((each.kind, each.key.namespace), []).append(each.key.name)
    if len(groups) > SEPARATE_WATCHES:
        return [(kind, Scope(kind.ref)) for kind in dict.fromkeys(kind for kind, _ in groups)]
    return [
        (kind, Scope(kind.ref, namespace, names[0] if len(names) == 1 else ""))
        for (kind, namespace), names in groups.items()
    ]


async def _watch(client: Client, scope: Scope, kind: Kind, vigil: Vigil) -> None:
    def lost(message: str) -> None:
        vigil.trouble = message

    first = True
    async with aclosing(follow(client, scope, lost)) as steps:
        async for changes in steps:
            vigil.see(kind, changes)
            if first:
                vigil.missing_from(kind, {key for key, _ in changes}, scope.namespace)
                first = False


async def _tell(vigil: Vigil, clock: Callable[[], float] = time.monotonic) -> None:
    """Print what is waited for when it has changed, at most once a second, and again now and then when it has not."""
    started = told_at = clock()
    told = ""
    while True:
        await asyncio.sleep(FIRST_PROGRESS_S)
        text = _summary(vigil)
        if text and (text != told or clock() - told_at >= REPEATED_PROGRESS_S):
            typer.echo(f"waiting ({clock() - started:.0f}s): {text}", err=True)
            told, told_at = text, clock()


def _summary(vigil: Vigil) -> str:
    if vigil.trouble:
        return f"the API does not answer, trying again: {vigil.trouble}"
    if not vigil.pending:
        return ""
    subject, missing = next(iter(vigil.pending.items()))
    others = f" (and {len(vigil.pending) - 1:,} more)" if len(vigil.pending) > 1 else ""
    return f"{subject}: {missing}{others}"
