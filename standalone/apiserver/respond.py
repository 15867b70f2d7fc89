"""HTTP responses: objects in the form the client wants, refusals as Status objects, warnings as headers.

Owns status lines, headers and bodies of finished answers. Streams are in `verbs`.
"""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from standalone.apiserver.api import Outcome
from standalone.apiserver.form import JSON, Form, dump, encode_decoded, encode_object
from standalone.apiserver.status import ApiError
from standalone.resource import Resource


def respond(code: int, content: bytes, form: Form) -> web.Response:
    """An encoded answer in a form."""
    return web.Response(status=code, body=content, headers={"Content-Type": form.media_type})


def respond_outcome(resource: Resource, outcome: Outcome, form: Form) -> web.Response:
    """What a write came to; warnings travel as RFC 7234 `Warning` headers with code 299."""
    if outcome.record is not None:
        content = encode_object(resource, outcome.record, form)
    elif outcome.obj.get("kind") == "Status":
        content = dump(outcome.obj, form)
    else:
        content = encode_decoded(resource, outcome.obj, form)
    response = respond(outcome.code, content, form)
    _add_warnings(response, outcome.warnings)
    return response


def _add_warnings(response: web.Response, warnings: Iterable[str]) -> None:
    for warning in warnings:
        response.headers.add("Warning", f'299 - "{_quotable(warning)}"')


def _quotable(text: str) -> str:
    """Text fit for a quoted string in a header: what cannot be printed becomes a space."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def respond_refusal(error: ApiError) -> web.Response:
    """A refusal, always as JSON."""
    headers = {"Content-Type": JSON}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    response = web.Response(status=error.code, body=dump(error.status, Form()), headers=headers)
    _add_warnings(response, error.warnings)
    return response
