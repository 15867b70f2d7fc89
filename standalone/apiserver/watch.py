"""The watch verb: the changes of a collection as a stream of events.

Owns where a stream begins, what a selector makes of a change, bookmarks and the end of a stream (api-concepts,
"Efficient detection of changes"). Never writes to a socket.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from standalone.apiserver.api import Api
from standalone.apiserver.form import Form, encode_object
from standalone.apiserver.option import ListOptions
from standalone.apiserver.read import MATCH, NOT_OLDER_THAN, check_version, match_forbidden
from standalone.apiserver.selector import Matcher, matcher
from standalone.apiserver.status import ApiError, watch_expired
from standalone.apiserver.target import Target
from standalone.apiserver.turn import parts
from standalone.store.failure import VersionTooOldError
from standalone.store.record import Event, EventType, Record
from standalone.store.subscription import Subscription

JsonObject = dict[str, Any]

BOOKMARK_INTERVAL_S = 60.0
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(slots=True, eq=False)
class Watch:
    """One stream; `chunks` yields its bytes. Make it with `start`, and always `close` it."""

    api: Api
    target: Target
    options: ListOptions
    form: Form
    matches: Matcher | None
    with_state: bool
    initial: list[Record]
    missed: list[Event]
    subscription: Subscription
    version: int
    """Everything up to it has been taken for sending."""

    def close(self) -> None:
        self.api.store.unsubscribe(*self.target.resource.storage_key, self.subscription)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Whole frames, as many as are ready at a time; ends at the timeout or when the watcher falls behind.

        Yields now and then even when there is nothing to say, so that a watcher that has gone is noticed.
        """
        ends_at = time.monotonic() + self.options.timeout_s if self.options.timeout_s else None
        for chunk in self._beginning():
            yield chunk
        bookmark_at = time.monotonic() + BOOKMARK_INTERVAL_S
        while True:
            now = time.monotonic()
            if ends_at is not None and now >= ends_at:
                return
            events = await self.subscription.take(min(bookmark_at, ends_at or bookmark_at) - now)
            if self.subscription.closed:
                return  # what did not fit was not taken: no bookmark may say that it was
            self.version = self.api.store.version
            for chunk in self._chunks_of(events):
                yield chunk
            if time.monotonic() >= bookmark_at:
                bookmark_at = time.monotonic() + BOOKMARK_INTERVAL_S
                yield self._bookmark() if self.options.allow_bookmarks else b""

    def _beginning(self) -> Iterator[bytes]:
        """The state and what was missed, a part at a time: together they may be large."""
        matches = self.matches
        for part in parts(self.initial, lambda record: len(record.body)):
            shown = part if matches is None else filter(matches, part)
            yield b"".join(self._frame_of(EventType.ADDED, record) for record in shown)
        if self.with_state and self.options.allow_bookmarks:
            yield self._bookmark({INITIAL_EVENTS_END: "true"})
        yield from self._chunks_of(self.missed)
        self.initial, self.missed = [], []

    def _chunks_of(self, events: list[Event]) -> Iterator[bytes]:
        for part in parts(events, lambda event: event.size_bytes):
            yield b"".join(self._event_frame(event) for event in part)

    def _frame_of(self, event_type: EventType, record: Record) -> bytes:
        return _frame(event_type, encode_object(self.target.resource, record, self.form))

    def _event_frame(self, event: Event) -> bytes:
        event_type, record = _seen_through(self.matches, event)
        if event_type is None:
            return b""
        resource = self.target.resource
        shared_by = (event.version, event_type, resource.api_version, self.form)
        frame = self.api.frames.get(shared_by)
        if frame is None:
            body = encode_object(resource, record, self.form, at_version=event.version)
            frame = _frame(event_type, body)
            self.api.frames.put(shared_by, frame)
        return frame

    def _bookmark(self, annotations: dict[str, str] | None = None) -> bytes:
        resource = self.target.resource
        metadata: JsonObject = {"resourceVersion": str(self.version), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return _frame("BOOKMARK", self.form.bookmark(resource, obj))


def start(api: Api, target: Target, options: ListOptions, form: Form) -> Watch:
    """Open a stream at the version asked for: its state first when none, 0 or initial events are asked for.

    Raises ApiError 400, 410 and 422 before anything is sent.
    """
    _check_options(options)
    resource = target.resource
    matches = matcher(resource, options.label_selector, options.field_selector)
    with_state = not options.version if options.send_initial_events is None else options.send_initial_events
    if options.send_initial_events:
        check_version(api, options.version)
    after = api.store.version if with_state else options.version or api.store.version
    if after > api.store.version:
        raise watch_expired(after, api.store.version)  # it was read from another data directory
    try:
        missed, subscription = api.store.subscribe(*resource.storage_key, target.namespace, after)
    except VersionTooOldError as error:
        raise watch_expired(error.requested, error.oldest) from error
    initial = api.store.records(*resource.storage_key, target.namespace) if with_state else []
    return Watch(api, target, options, form, matches, with_state, initial, missed, subscription, api.store.version)


def error_frame(error: ApiError) -> bytes:
    """The in-stream form of a refusal; the HTTP answer of a watch that starts too late is 200 all the same."""
    return _frame("ERROR", orjson.dumps(error.status))


def _seen_through(matches: Matcher | None, event: Event) -> tuple[EventType | None, Record]:
    """An event as a selector shows it: entering the selection adds, leaving it deletes (with the state before)."""
    if matches is None:
        return event.type, event.record
    before = event.previous is not None and matches(event.previous)
    if event.type is EventType.DELETED:
        return (EventType.DELETED if before or matches(event.record) else None), event.record
    if matches(event.record):
        return (EventType.MODIFIED if before else EventType.ADDED), event.record
    if before and event.previous is not None:
        return EventType.DELETED, event.previous
    return None, event.record


def _frame(event_type: str, body: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (event_type.encode(), body)


def _check_options(options: ListOptions) -> None:
    if options.send_initial_events is not None and options.version_match != NOT_OLDER_THAN:
        raise match_forbidden(f'sendInitialEvents requires setting {MATCH} to "{NOT_OLDER_THAN}"')
    if options.version_match and options.send_initial_events is None:
        raise match_forbidden(f"{MATCH} is forbidden for watch unless sendInitialEvents is provided")
