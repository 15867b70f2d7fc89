"""The forms in which a client may want objects: as they are, as a printed Table, or as metadata only.

Owns the choice by Accept header (api-concepts, "Receiving resources as Tables", "Metadata-only fetches") and the
encoding of objects, lists and bookmarks in that form.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import orjson
import yaml

from standalone.apiserver.conversion import decoded, encoded
from standalone.apiserver.read import Page
from standalone.apiserver.status import not_acceptable
from standalone.resource import Resource
from standalone.store.record import Record
from standalone.table import IncludeObject, table

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


def encode_page(resource: Resource, page: Page, form: Form) -> bytes:
    """A list in a form; stored bytes are joined without decoding them where that is possible."""
    if form.shape is Shape.TABLE:
        objects = [decoded(resource, record) for record in page.records]
        shown = table(resource, objects, include_object=form.include_object, list_metadata=page.metadata)
        return orjson.dumps(shown)
    head: JsonObject = {"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": page.metadata}
    if form.shape is not Shape.OBJECT:
        head |= {"kind": Shape.METADATA_LIST.value, "apiVersion": "meta.k8s.io/v1"}
        return orjson.dumps(head | {"items": [_metadata_only(decoded(resource, record)) for record in page.records]})
    if form.media_type == YAML:
        return dump(head | {"items": [decoded(resource, record) for record in page.records]}, form)
    items = b",".join(encoded(resource, record) for record in page.records)
    return b'%s,"items":[%s]}' % (orjson.dumps(head)[:-1], items)


def dump(obj: JsonObject, form: Form) -> bytes:
    """Any JSON object in the form's media type."""
    if form.media_type == YAML:
        text: str = yaml.dump(obj, Dumper=yaml.CSafeDumper, sort_keys=False)
        return text.encode()
    return orjson.dumps(obj)


def _metadata_only(obj: JsonObject) -> JsonObject:
    return {"kind": Shape.METADATA.value, "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def _version_of(obj: JsonObject) -> JsonObject:
    return {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
