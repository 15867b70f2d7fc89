"""The verbs as HTTP: from a routed request to the verb's module and back to a response or a stream.

Owns which method means which verb, and reading bodies and options. What a verb does is in the module of its name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from aiohttp import web

from standalone.apiserver import create, delete, patch, read, update, watch
from standalone.apiserver.answered import Answered
from standalone.apiserver.api import Api
from standalone.apiserver.body import decode_json, decode_object, decode_yaml
from standalone.apiserver.duplicate import duplicate_fields
from standalone.apiserver.form import JSON, YAML, Form, encode_object, encode_page, negotiate
from standalone.apiserver.kinds.builtin import CUSTOM_RESOURCE_DEFINITION
from standalone.apiserver.kinds.namespace import FINALIZE
from standalone.apiserver.option import (
    FieldValidation,
    ListOptions,
    WriteOptions,
    flag,
    include_object,
    list_options,
    write_options,
)
from standalone.apiserver.respond import respond, respond_outcome
from standalone.apiserver.review import answer, is_review
from standalone.apiserver.status import ApiError, method_not_allowed, not_acceptable
from standalone.apiserver.target import ADMIN, Target
from standalone.apiserver.turn import PART_BYTES, PART_ITEMS, Turn
from standalone.store.record import Event


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, what it is about, and the form its answer is wanted in."""

    request: web.BaseRequest
    target: Target
    form: Form

    @classmethod
    def of(cls, request: web.BaseRequest, target: Target) -> Exchange:
        """Negotiates the form before anything is done. Raises ApiError 400, 406."""
        form = negotiate(request.headers.get("Accept", ""), include_object(request.query))
        return cls(request, target, form)


_OPTIONS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}

Verb = Callable[[Exchange], Awaitable[web.StreamResponse]]


class Verbs:
    """The verbs of one API. `close` ends its open watches."""

    def __init__(self, api: Api, answered: Answered | None = None) -> None:
        self._api = api
        self._answered = answered or Answered()
        self._watches: set[watch.Watch] = set()
        self._of_object: dict[str, tuple[str, Verb]] = {
            "GET": ("get", self._get),
            "PUT": ("update", self._update),
            "PATCH": ("patch", self._patch),
            "DELETE": ("delete", self._delete),
        }
        self._of_collection: dict[str, tuple[str, Verb]] = {
            "GET": ("list", self._list),
            "POST": ("create", self._create),
            "DELETE": ("deletecollection", self._delete_collection),
        }

    def close(self) -> None:
        """End all watches, so that their connections can close."""
        for each in list(self._watches):
            each.subscription.close()

    def follow(self, event: Event) -> None:
        """End the watches of resources that a change of their definition took away."""
        key = event.record.key
        if (key.group, key.plural) != CUSTOM_RESOURCE_DEFINITION.storage_key:
            return
        for each in list(self._watches):
            resource = each.target.resource
            if self._api.registry.lookup(resource.group, resource.version, resource.plural) is None:
                each.subscription.close()

    async def run(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        """Carry out a request on a served resource. Raises ApiError."""
        verbs = self._of_object if target.name else self._of_collection
        name, verb = verbs.get(request.method, ("", None))
        across_namespaces = target.resource.namespaced and not target.namespace
        only = "update" if target.subresource == FINALIZE else name
        not_here = (across_namespaces and name != "list") or (target.subresource and name == "delete") or name != only
        if verb is None or name not in target.resource.verbs or not_here:
            raise method_not_allowed()
        return await verb(Exchange.of(request, target))

    async def _get(self, exchange: Exchange) -> web.StreamResponse:
        target, options = exchange.target, list_options(exchange.request.query)
        record = read.get(self._api, target, options)
        return respond(200, encode_object(target.resource, record, exchange.form), exchange.form)

    async def _list(self, exchange: Exchange) -> web.StreamResponse:
        options = list_options(exchange.request.query)
        if flag(exchange.request.query, "watch"):
            return await self._watch(exchange, options)
        page = await read.list_page(self._api, exchange.target, options)
        return await _page(exchange, page)

    async def _watch(self, exchange: Exchange, options: ListOptions) -> web.StreamResponse:
        """Stream until the watch ends or the watcher goes; a start that is too old is told inside the stream."""
        request = exchange.request
        if exchange.form.media_type == YAML:
            raise not_acceptable([JSON])  # its events would run into each other
        response = web.StreamResponse(headers={"Content-Type": JSON, "Cache-Control": "no-cache, private"})
        try:
            stream = watch.start(self._api, exchange.target, options, exchange.form)
        except ApiError as error:
            if error.code != 410:
                raise
            await response.prepare(request)
            await response.write(watch.error_frame(error))
            return response
        self._watches.add(stream)
        try:
            await response.prepare(request)
            turn = Turn()
            async for chunk in stream.chunks():
                if request.transport is None:
                    break
                await response.write(chunk)
                await turn.pause()
        except ConnectionError:
            pass  # the watcher has gone: nobody is left to tell
        finally:
            self._watches.discard(stream)
            stream.close()
        return response

    async def _create(self, exchange: Exchange) -> web.StreamResponse:
        obj, options = await self._object(exchange), await self._write_options(exchange)
        if is_review(exchange.target):
            outcome = answer(self._api, exchange.target, obj, options)
        elif self._answered.has(exchange.target.resource):
            outcome = self._answered.answer(self._api, exchange.target, obj, options)
        else:
            outcome = await create.create(self._api, exchange.target, obj, options, ADMIN)
        return respond_outcome(exchange.target.resource, outcome, exchange.form)

    async def _update(self, exchange: Exchange) -> web.StreamResponse:
        obj, options = await self._object(exchange), await self._write_options(exchange)
        outcome = await update.replace(self._api, exchange.target, obj, options, ADMIN)
        return respond_outcome(exchange.target.resource, outcome, exchange.form)

    async def _patch(self, exchange: Exchange) -> web.StreamResponse:
        kind = patch.patch_type(exchange.target.resource, exchange.request.content_type)
        content = await exchange.request.read()
        decode = decode_yaml if kind is patch.PatchType.APPLY else decode_json
        decoded = await self._api.aside.run(len(content), lambda: decode(content))
        options = await self._write_options(exchange)
        outcome = await patch.patch(self._api, exchange.target, kind, decoded, options, ADMIN)
        return respond_outcome(exchange.target.resource, outcome, exchange.form)

    async def _delete(self, exchange: Exchange) -> web.StreamResponse:
        options = await _delete_options(exchange)
        outcome = await delete.delete(self._api, exchange.target, options, ADMIN)
        return respond_outcome(exchange.target.resource, outcome, exchange.form)

    async def _object(self, exchange: Exchange) -> dict[str, object]:
        request, content = exchange.request, await exchange.request.read()
        return await self._api.aside.run(
            len(content), lambda: decode_object(content, request.content_type, exchange.target.resource)
        )

    async def _write_options(self, exchange: Exchange) -> WriteOptions:
        """The options; the body is searched for fields named twice only when the client asked for that."""
        request, content = exchange.request, await exchange.request.read()
        options = write_options(request.query, request.headers.get("User-Agent", ""), _OPTIONS[request.method])
        options = replace(options, body_bytes=len(content))
        asked = "fieldValidation" in request.query and options.field_validation is not FieldValidation.IGNORE
        if not asked or request.content_type != JSON:
            return options
        duplicates = await self._api.aside.run(len(content), lambda: tuple(duplicate_fields(content)))
        return replace(options, duplicate_fields=duplicates)

    async def _delete_collection(self, exchange: Exchange) -> web.StreamResponse:
        target, options = exchange.target, await _delete_options(exchange)
        page = await read.list_page(self._api, target, list_options(exchange.request.query))
        await delete.delete_collection(self._api, target, page.records, options, ADMIN)
        return await _page(exchange, page)


async def _page(exchange: Exchange, page: read.Page) -> web.StreamResponse:
    """A list as an answer; a large one is sent while it is made, and others have their turn meanwhile."""
    chunks = encode_page(exchange.target.resource, page, exchange.form)
    if len(page.records) <= PART_ITEMS and sum(len(record.body) for record in page.records) <= PART_BYTES:
        return respond(200, b"".join(chunks), exchange.form)
    response = web.StreamResponse(headers={"Content-Type": exchange.form.media_type})
    await response.prepare(exchange.request)
    turn = Turn()
    with suppress(ConnectionError):  # the client has gone: nobody is left to tell
        for chunk in chunks:
            await response.write(chunk)
            await turn.pause()
    return response


async def _delete_options(exchange: Exchange) -> delete.DeleteOptions:
    request = exchange.request
    content = await request.read()
    body = decode_object(content, request.content_type, None) if content else None
    return delete.delete_options(body, request.query)
