"""The get and list verbs.

Owns resource version semantics of reads and pagination (api-concepts, "Resource versions", "Chunks"). Reads never
touch the disk.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import orjson

from standalone.apiserver.api import Api
from standalone.apiserver.option import ListOptions
from standalone.apiserver.selector import Matcher, matcher, name_of
from standalone.apiserver.status import ApiError, bad_request, invalid_options, list_expired, not_found, version_ahead
from standalone.apiserver.target import Target
from standalone.apiserver.turn import Turn
from standalone.resource import Resource
from standalone.schema.fault import forbidden, not_supported
from standalone.store.failure import VersionTooOldError
from standalone.store.record import Key, Record

JsonObject = dict[str, Any]

EXACT = "Exact"
NOT_OLDER_THAN = "NotOlderThan"
LIST_OPTIONS = "ListOptions"
MATCH = "resourceVersionMatch"


@dataclass(frozen=True, slots=True)
class Page:
    """A list or a part of one, as of `version`. `remaining` is None when it was not counted."""

    records: list[Record]
    version: int
    continue_token: str = ""
    remaining: int | None = None

    @property
    def metadata(self) -> JsonObject:
        metadata: JsonObject = {"resourceVersion": str(self.version)}
        if self.continue_token:
            metadata["continue"] = self.continue_token
        if self.remaining:
            metadata["remainingItemCount"] = self.remaining
        return metadata


@dataclass(frozen=True, slots=True)
class _Position:
    """Where a page ended: the version of the list and the last (namespace, name) it held."""

    version: int
    after: tuple[str, str]

    def encode(self) -> str:
        content = orjson.dumps({"v": "meta.k8s.io/v1", "rv": self.version, "start": self.after})
        return base64.urlsafe_b64encode(content).decode()

    @classmethod
    def decode(cls, token: str) -> _Position:
        try:
            content = orjson.loads(base64.urlsafe_b64decode(token))
            namespace, name = content["start"]
            return cls(int(content["rv"]), (str(namespace), str(name)))
        except (binascii.Error, ValueError, KeyError, TypeError) as error:
            raise bad_request(f"continue key is not valid: {error}") from error


def get(api: Api, target: Target, options: ListOptions) -> Record:
    """The record of one object. Raises ApiError 404, 504."""
    check_version(api, options.version)
    record = api.store.get(target.key)
    if record is None:
        raise not_found(target.resource, target.name)
    return record


async def list_page(api: Api, target: Target, options: ListOptions) -> Page:
    """The matching records in order of namespace and name, at most `limit` of them. Raises ApiError 400, 410, 504."""
    _check_options(options)
    position = _Position.decode(options.continue_token) if options.continue_token else None
    matches = matcher(target.resource, options.label_selector, options.field_selector)
    records, version = _snapshot(api, target, options, position)
    if matches is not None:
        records = await _matching(records, matches, options.limit + 1 if options.limit else None)
    if not options.limit or len(records) <= options.limit:
        return Page(records, version)
    page = records[: options.limit]
    last = page[-1].key
    token = _Position(version, (last.namespace, last.name)).encode()
    remaining = len(records) - len(page) if matches is None else None
    return Page(page, version, token, remaining)


async def _matching(records: list[Record], matches: Matcher, wanted: int | None) -> list[Record]:
    """The matching records, of which no more than `wanted` are of interest."""
    found: list[Record] = []
    turn = Turn()
    for record in records:
        await turn.pause()
        if matches(record):
            found.append(record)
            if len(found) == wanted:
                break
    return found


def check_version(api: Api, version: int | None) -> None:
    """Refuse a version this server has not reached yet."""
    if version and version > api.store.version:
        raise version_ahead(version, api.store.version)


def _snapshot(api: Api, target: Target, options: ListOptions, position: _Position | None) -> tuple[list[Record], int]:
    store, resource = api.store, target.resource
    one_version = options.version_match == EXACT or (options.limit and not options.version_match)
    exact = (options.version or None) if one_version else None
    wanted = position.version if position else exact
    check_version(api, wanted or options.version)
    after = position.after if position else ("", "")
    if wanted is None or wanted == store.version:
        return _current(api, resource, target.namespace, options, after), store.version
    try:
        return store.records_at(*resource.storage_key, target.namespace, wanted, after), wanted
    except VersionTooOldError as error:
        token = _Position(store.version, position.after).encode() if position else None
        raise list_expired(token) from error


def _current(
    api: Api, resource: Resource, namespace: str, options: ListOptions, after: tuple[str, str]
) -> list[Record]:
    """All records beyond `after` now, or the one a field selector pins."""
    name = name_of(options.field_selector)
    if name is not None and (namespace or not resource.namespaced):
        record = api.store.get(Key(*resource.storage_key, namespace, name))
        return [record] if record is not None and record.key[2:] > after else []
    return api.store.records(*resource.storage_key, namespace, after)


def _check_options(options: ListOptions) -> None:
    """Combinations the API forbids (meta/v1 ListOptions validation)."""
    match = options.version_match
    if match and match not in (EXACT, NOT_OLDER_THAN):
        raise invalid_options(LIST_OPTIONS, not_supported(MATCH, match, (EXACT, NOT_OLDER_THAN)))
    if match and options.version is None:
        raise match_forbidden(f"{MATCH} is forbidden unless resourceVersion is provided")
    if match and options.continue_token:
        raise match_forbidden(f"{MATCH} is forbidden when continue is provided")
    if match == EXACT and options.version == 0:
        raise match_forbidden(f'{MATCH} "{EXACT}" is forbidden for resourceVersion "0"')
    if options.send_initial_events is not None:
        raise invalid_options(LIST_OPTIONS, forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    if options.continue_token and options.version:
        raise bad_request("specifying resource version is not allowed when using continue")


def match_forbidden(why: str) -> ApiError:
    """A resourceVersionMatch that does not go with the other options."""
    return invalid_options(LIST_OPTIONS, forbidden(MATCH, why))
