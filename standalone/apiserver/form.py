"""The forms in which a client may want objects: as they are, as a printed Table, or as metadata only.

Owns the choice by Accept header (api-concepts, "Receiving resources as Tables", "Metadata-only fetches") and the
encoding of objects, lists and bookmarks in that form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import orjson
import yaml

from standalone.apiserver.conversion import decoded, encoded
from standalone.apiserver.read import Page
from standalone.apiserver.status import not_acceptable
from standalone.apiserver.turn import parts
from standalone.resource import Resource
from standalone.store.record import Record
from standalone.table import IncludeObject, rows, table

JsonObject = dict[str, Any]

JSON = "application/json"
YAML = "application/yaml"


class Shape(Enum):
    """What an answer shows of an object."""

    OBJECT = ""
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"
    METADATA_LIST = "PartialObjectMetadataList"


@dataclass(frozen=True, slots=True)
class Form:
    """A shape in a media type. `include_object` says what of the object a Table row carries."""

    shape: Shape = Shape.OBJECT
    media_type: str = JSON
    include_object: IncludeObject = "Metadata"

    def bookmark(self, resource: Resource, obj: JsonObject) -> bytes:
        """A bookmark in this form: in a Table it is the object of an otherwise empty row."""
        if self.shape is Shape.TABLE:
            shown = table(resource, [obj], include_object=self.include_object, list_metadata=_version_of(obj))
            return orjson.dumps(shown)
        if self.shape is not Shape.OBJECT:
            return orjson.dumps(obj | {"kind": Shape.METADATA.value, "apiVersion": "meta.k8s.io/v1"})
        return orjson.dumps(obj)


@lru_cache(maxsize=256)
def negotiate(accept: str, include_object: IncludeObject = "Metadata") -> Form:
    """The first form of an Accept header that this server can give. Raises ApiError 406 when there is none."""
    for clause in accept.split(",") if accept.strip() else ["*/*"]:
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        values = dict(parameter.partition("=")[::2] for parameter in parameters)
        wanted = values.get("as", "")
        if wanted and (values.get("g"), values.get("v")) != ("meta.k8s.io", "v1"):
            continue
        shape = next((each for each in Shape if each.value == wanted), None)
        if shape is None:
            continue
        if media_type in (JSON, "application/*", "*/*"):
            return Form(shape, JSON, include_object)
        if media_type == YAML and shape is Shape.OBJECT:
            return Form(shape, YAML)
    raise not_acceptable([JSON, YAML])


def encode_object(resource: Resource, record: Record, form: Form, *, at_version: int | None = None) -> bytes:
    """A stored object in a form. `at_version` shows it as of a later version, as the end of a selected watch needs."""
    if at_version is not None and at_version != record.version:
        obj = decoded(resource, record)
        obj["metadata"]["resourceVersion"] = str(at_version)
        return encode_decoded(resource, obj, form)
    if form.shape is Shape.OBJECT and form.media_type == JSON:
        return encoded(resource, record)
    return encode_decoded(resource, decoded(resource, record), form)


def encode_decoded(resource: Resource, obj: JsonObject, form: Form) -> bytes:
    """A decoded object in a form."""
    if form.shape is Shape.TABLE:
        shown = table(resource, [obj], include_object=form.include_object, list_metadata=_version_of(obj))
        return orjson.dumps(shown)
    if form.shape is not Shape.OBJECT:
        return orjson.dumps(_metadata_only(obj))
    return dump(obj, form)


def encode_page(resource: Resource, page: Page, form: Form) -> Iterator[bytes]:
    """A list in a form, in parts; stored bytes are joined without decoding them where that is possible."""
    yield _head(resource, page, form)
    separator = b""
    for records in parts(page.records, lambda record: len(record.body)):
        yield separator + _items(resource, records, form)
        separator = b"" if form.media_type == YAML else b","
    if form.media_type == JSON:
        yield b"]}"
    elif not page.records:
        yield b" []\n"


def _head(resource: Resource, page: Page, form: Form) -> bytes:
    """The beginning of a list, up to where its items or rows stand."""
    head: JsonObject = {"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": page.metadata}
    items = "items"
    if form.shape is Shape.TABLE:
        head = table(resource, (), include_object=form.include_object, list_metadata=page.metadata)
        items = "rows"
        del head[items]
    elif form.shape is not Shape.OBJECT:
        head |= {"kind": Shape.METADATA_LIST.value, "apiVersion": "meta.k8s.io/v1"}
    if form.media_type == YAML:
        return dump(head, form) + b"items:" + (b"\n" if page.records else b"")
    return b'%s,"%s":[' % (orjson.dumps(head)[:-1], items.encode())


def _items(resource: Resource, records: Sequence[Record], form: Form) -> bytes:
    """Some of the items or rows, without what is around them."""
    if form.shape is Shape.OBJECT and form.media_type == JSON:
        return b",".join(encoded(resource, record) for record in records)
    objects = [decoded(resource, record) for record in records]
    if form.shape is Shape.TABLE:
        return orjson.dumps(rows(resource, objects, include_object=form.include_object))[1:-1]
    if form.shape is not Shape.OBJECT:
        return orjson.dumps([_metadata_only(obj) for obj in objects])[1:-1]
    return dump(objects, form)


def dump(obj: JsonObject | list[JsonObject], form: Form) -> bytes:
    """Any JSON value in the form's media type."""
    if form.media_type == YAML:
        text: str = yaml.dump(obj, Dumper=yaml.CSafeDumper, sort_keys=False)
        return text.encode()
    return orjson.dumps(obj)


def _metadata_only(obj: JsonObject) -> JsonObject:
    return {"kind": Shape.METADATA.value, "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def _version_of(obj: JsonObject) -> JsonObject:
    return {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
