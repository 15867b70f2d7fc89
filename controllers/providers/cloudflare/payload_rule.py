"""What is wrong with a payload, as the controllers judge it once more: admission may have been passed by.

Pure. Every fault is named, with the field, what was found and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from controllers.api.zone_unit import UnitRecordSet
from controllers.providers.cloudflare.payload import (
    COMMENT_LIMIT,
    TAG_LIMIT,
    TAG_PATTERN,
    Options,
    Payload,
    RecordAdoption,
)
from controllers.providers.cloudflare.record import is_id, normal_tag
from zonemodel.record import RecordType

MIN_TTL_S: Final = 60
MAX_TTL_S: Final = 86400
PROXIABLE: Final = frozenset({RecordType.A, RecordType.AAAA, RecordType.CNAME})
_TAG: Final = re.compile(TAG_PATTERN)
_TAGS: Final = (
    "name:value with a name of 1 to 32 letters, digits, - or _, not beginning with cf-, and a value of one line"
)

P = TypeVar("P", bound=Payload)


def parse_payload(model: type[P], payload: Mapping[str, Any] | None, field: str) -> P | str:
    """Return a payload as its type, or all that is wrong with its shape; `field` is its place in the claim."""
    try:
        return model.model_validate(payload or {})
    except ValidationError as error:
        places = (".".join([field, *(str(part) for part in each["loc"])]) for each in error.errors())
        messages = (str(each["msg"]) for each in error.errors())
        return "; ".join(f"{place}: {message}" for place, message in zip(places, messages, strict=True))


def object_to_options(source: UnitRecordSet, options: Options) -> Iterator[str]:
    """Yield what is wrong with an item's settings."""
    if options.ttl is not None and source.ttl is not None:
        yield f"ttl: found {source.ttl}, allowed is nothing beside options.ttl: Auto"
    if options.ttl is None and (source.ttl is None or not MIN_TTL_S <= source.ttl <= MAX_TTL_S):
        found = "nothing" if source.ttl is None else source.ttl
        yield f"ttl: found {found}, allowed are {MIN_TTL_S} to {MAX_TTL_S}, or options.ttl: Auto"
    if options.proxied and source.type not in PROXIABLE:
        yield f"options.proxied: found true for {source.type}, allowed for A, AAAA and CNAME"
    if options.proxied and options.ttl is None:
        yield "options.proxied: found true with a fixed ttl, allowed with options.ttl: Auto"
    if options.comment is not None and (len(options.comment) > COMMENT_LIMIT or "\n" in options.comment):
        yield f"options.comment: found {len(options.comment)} characters, allowed is one line of {COMMENT_LIMIT}"
    yield from _object_to_tags(options.tags or ())


def _object_to_tags(tags: tuple[str, ...]) -> Iterator[str]:
    if len(tags) > TAG_LIMIT:
        yield f"options.tags: found {len(tags)}, allowed are {TAG_LIMIT}"
    for tag in tags:
        if not _TAG.fullmatch(tag) or tag.lower().startswith("cf-"):
            yield f"options.tags: found {tag[:40]!r}, allowed is {_TAGS}"
    if len({normal_tag(tag) for tag in tags}) != len(tags):
        yield "options.tags: found a tag twice, allowed is each once; names have no case"


def adopted_ids(source: UnitRecordSet) -> tuple[str, ...] | str:
    """Return the identifiers that an item adopts, none when it adopts nothing, or what is wrong with them."""
    if source.adoption is None:
        return ()
    adoption = parse_payload(RecordAdoption, source.adoption, "adoption")
    if isinstance(adoption, str):
        return adoption
    ids = adoption.record_ids
    if not ids or not all(map(is_id, ids)) or len(set(ids)) != len(ids):
        return "adoption.recordIDs: allowed are different identifiers of 32 lowercase hexadecimal digits, at least one"
    return ids
