"""The HTTP face: one handler that turns requests into verbs and their outcomes into responses.

Owns methods, headers, status codes and streaming. What a verb does is in the module of that name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import structlog
from aiohttp import web

from standalone.apiserver import read, update, watch
from standalone.apiserver.api import Api, Outcome
from standalone.apiserver.body import decode_json, decode_object, decode_yaml
from standalone.apiserver.create import create
from standalone.apiserver.delete import delete, delete_collection, delete_options
from standalone.apiserver.documents import Documents
from standalone.apiserver.duplicate import duplicate_fields
from standalone.apiserver.form import JSON, Form, dump, encode_decoded, encode_object, encode_page, negotiate
from standalone.apiserver.option import FieldValidation, WriteOptions, flag, include_object, list_options, write_options
from standalone.apiserver.patch import PatchType, patch, patch_type
from standalone.apiserver.path import ResourcePath, parse_path
from standalone.apiserver.review import answer, is_review
from standalone.apiserver.status import ApiError, internal, method_not_allowed, no_such_path, too_large, unauthorized
from standalone.apiserver.target import ADMIN, Target, User
from standalone.store.failure import CommitError, ObjectTooLargeError

log = structlog.get_logger()

LIMIT_BODY_BYTES = 3 * 1024 * 1024
SUBRESOURCES = frozenset({"status"})

Query = Mapping[str, str]


class Endpoint:
    """Answers every request of one API. `close` ends the open watches."""

    def __init__(self, api: Api, token: str | None = None) -> None:
        self._api = api
        self._documents = Documents(api.registry)
        self._authorization = None if token is None else f"Bearer {token}"
        self._watches: set[watch.Watch] = set()

    def close(self) -> None:
        """End all watches, so that their connections can close."""
        for each in list(self._watches):
            each.subscription.close()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; refusals become Status objects."""
        try:
            return await self._answer(request)
        except ApiError as error:
            return _refusal(error)
        except ObjectTooLargeError as error:
            return _refusal(too_large(error.size_bytes, error.limit_bytes))
        except CommitError as error:
            return _refusal(internal(str(error)))
        except web.HTTPRequestEntityTooLarge:
            return _refusal(ApiError(413, "RequestEntityTooLarge", f"limit is {LIMIT_BODY_BYTES} bytes", {}))
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as error:  #  the socket edge: one broken request must not end the server
            log.exception("request failed", method=request.method, path=request.path)
            return _refusal(internal(f"{type(error).__name__}: {error}"))

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._authorization is not None and request.headers.get("Authorization") != self._authorization:
            raise unauthorized()
        path = parse_path(request.rel_url.raw_path)
        if path is None:
            return self._document(request)
        resource = self._api.registry.lookup(path.group, path.version, path.plural)
        if resource is None:
            return self._document(request)
        target = Target(resource, path.namespace, path.name, path.subresource)
        _check_shape(path, target)
        return await self._verb(request, target)

    def _document(self, request: web.BaseRequest) -> web.Response:
        accept = request.headers.get("Accept", "")
        document = self._documents.find(request.rel_url.path, accept)
        if document is None:
            raise no_such_path()
        if request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        return web.Response(body=document.content, headers={"Content-Type": document.content_type})

    async def _verb(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        verbs: dict[
            tuple[str, bool], tuple[str, Callable[[web.BaseRequest, Target], Awaitable[web.StreamResponse]]]
        ] = {
            ("GET", True): ("get", self._get),
            ("GET", False): ("list", self._list),
            ("POST", False): ("create", self._create),
            ("PUT", True): ("update", self._update),
            ("PATCH", True): ("patch", self._patch),
            ("DELETE", True): ("delete", self._delete),
            ("DELETE", False): ("deletecollection", self._delete_collection),
        }
        name, verb = verbs.get((request.method, bool(target.name)), ("", None))
        if verb is None or name not in target.resource.verbs:
            raise method_not_allowed()
        return await verb(request, target)

    async def _get(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        record = read.get(self._api, target, list_options(request.query))
        form = _form(request)
        return _response(200, encode_object(target.resource, record, form), form)

    async def _list(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        options = list_options(request.query)
        form = _form(request)
        if flag(request.query, "watch"):
            return await self._watch(request, watch.start, target, form)
        page = read.list_page(self._api, target, options)
        return _response(200, encode_page(target.resource, page, form), form)

    async def _watch(
        self, request: web.BaseRequest, start: Callable[..., watch.Watch], target: Target, form: Form
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": JSON, "Cache-Control": "no-cache, private"})
        try:
            stream = start(self._api, target, list_options(request.query), form)
        except ApiError as error:
            if error.code != 410:
                raise
            await response.prepare(request)
            await response.write(watch.error_frame(error))
            return response
        self._watches.add(stream)
        try:
            await response.prepare(request)
            async for chunk in stream.chunks():
                await response.write(chunk)
        except ConnectionError:
            pass  # the watcher has gone: nothing is left to tell it
        finally:
            self._watches.discard(stream)
            stream.close()
        return response

    async def _create(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        obj = decode_object(await request.read(), request.content_type, target.resource)
        if is_review(target):
            return _response(201, dump(answer(target, obj), _form(request)), _form(request))
        outcome = await create(self._api, target, obj, await _write_options(request), _user(request))
        return _written(request, target, outcome)

    async def _update(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        obj = decode_object(await request.read(), request.content_type, target.resource)
        outcome = await update.replace(self._api, target, obj, await _write_options(request), _user(request))
        return _written(request, target, outcome)

    async def _patch(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        kind = patch_type(target.resource, request.content_type)
        content = await request.read()
        decoded: Any = decode_yaml(content) if kind is PatchType.APPLY else decode_json(content)
        outcome = await patch(self._api, target, kind, decoded, await _write_options(request), _user(request))
        return _written(request, target, outcome)

    async def _delete(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        outcome = await delete(self._api, target, await _delete_options(request), _user(request))
        return _written(request, target, outcome)

    async def _delete_collection(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        page = read.list_page(self._api, target, list_options(request.query))
        options = await _delete_options(request)
        await delete_collection(self._api, target, page.records, options, _user(request))
        form = _form(request)
        return _response(200, encode_page(target.resource, page, form), form)


def _check_shape(path: ResourcePath, target: Target) -> None:
    """Refuse paths that do not fit the resource's scope or name a subresource it has not got."""
    resource = target.resource
    if path.namespace and not resource.namespaced:
        raise no_such_path()
    if path.name and resource.namespaced and not path.namespace:
        raise no_such_path()
    if path.subresource and not (path.subresource in SUBRESOURCES and resource.has_status):
        raise no_such_path()


def _form(request: web.BaseRequest) -> Form:
    return negotiate(request.headers.get("Accept", ""), include_object(request.query))


async def _write_options(request: web.BaseRequest) -> WriteOptions:
    options = write_options(request.query, request.headers.get("User-Agent", ""))
    asked = "fieldValidation" in request.query and options.field_validation is not FieldValidation.IGNORE
    if not asked or request.content_type != JSON:
        return options
    return replace(options, duplicate_fields=tuple(duplicate_fields(await request.read())))


async def _delete_options(request: web.BaseRequest) -> Any:
    content = await request.read()
    body = decode_object(content, request.content_type, None) if content else None
    return delete_options(body, request.query)


def _user(request: web.BaseRequest) -> User:
    del request
    return ADMIN


def _written(request: web.BaseRequest, target: Target, outcome: Outcome) -> web.Response:
    form = _form(request)
    if outcome.record is not None:
        content = encode_object(target.resource, outcome.record, form)
    elif outcome.obj.get("kind") == "Status":
        content = dump(outcome.obj, form)
    else:
        content = encode_decoded(target.resource, outcome.obj, form)
    response = _response(outcome.code, content, form)
    for warning in outcome.warnings:
        escaped = warning.replace("\\", "\\\\").replace('"', '\\"')
        response.headers.add("Warning", f'299 - "{escaped}"')
    return response


def _response(code: int, content: bytes, form: Form) -> web.Response:
    return web.Response(status=code, body=content, headers={"Content-Type": form.media_type})


def _refusal(error: ApiError) -> web.Response:
    return web.Response(status=error.code, body=dump(error.status, Form()), headers={"Content-Type": JSON})
