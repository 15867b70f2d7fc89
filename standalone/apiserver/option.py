"""Query parameters of the API verbs as typed values.

Owns their names, defaults and refusals (meta/v1 ListOptions, CreateOptions, UpdateOptions, PatchOptions). Never acts
on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from standalone.apiserver.status import bad_request, invalid_options
from standalone.schema.fault import Fault, invalid, not_supported, too_long
from standalone.table import IncludeObject

LIMIT_MANAGER_BYTES = 128


class Query(Protocol):
    """Query parameters; a name may be given more than once."""

    def get(self, name: str, default: str, /) -> str: ...

    def getall(self, name: str, default: list[str], /) -> list[str]: ...

    def __contains__(self, name: object, /) -> bool: ...


class FieldValidation(StrEnum):
    """What happens to fields the schema does not know."""

    IGNORE = "Ignore"
    WARN = "Warn"
    STRICT = "Strict"


_FIELD_VALIDATIONS = ("", *sorted(FieldValidation))


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How a create, update or patch is carried out; `manager` names the field manager."""

    manager: str
    manager_given: bool = True
    """False when the manager is only guessed from the User-Agent."""
    dry_run: bool = False
    force: bool = False
    field_validation: FieldValidation = FieldValidation.WARN
    duplicate_fields: tuple[str, ...] = ()
    """Paths of fields that the request body names twice; `field_validation` decides what comes of them."""
    body_bytes: int = 0
    """How large the request body is."""


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What a list or watch asks for. `version` is None when unset, which is not the same as 0."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_token: str = ""
    version: int | None = None
    version_match: str = ""
    allow_bookmarks: bool = False
    send_initial_events: bool | None = None
    """Whether a watch begins with the state; None when the version decides."""
    timeout_s: float | None = None


def write_options(query: Query, user_agent: str, kind: str) -> WriteOptions:
    """The options of a write, whose kind is `CreateOptions`, `UpdateOptions` or `PatchOptions`. Raises ApiError 422."""
    given = query.get("fieldManager", "")
    validation = query.get("fieldValidation", "")
    faults = [*_dry_run_faults(query.getall("dryRun", [])), *_manager_faults(given)]
    if validation not in _FIELD_VALIDATIONS:
        faults.append(not_supported("fieldValidation", validation, _FIELD_VALIDATIONS))
    if faults:
        raise invalid_options(kind, *faults)
    return WriteOptions(
        manager=given or user_agent.partition("/")[0][:LIMIT_MANAGER_BYTES] or "unknown",
        manager_given=bool(given),
        dry_run="dryRun" in query,
        force=flag(query, "force"),
        field_validation=FieldValidation(validation or FieldValidation.WARN),
    )


def list_options(query: Query) -> ListOptions:
    """Raises ApiError 400 for values the API does not know."""
    timeout = query.get("timeoutSeconds", "")
    return ListOptions(
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
        limit=_number(query, "limit") or 0,
        continue_token=query.get("continue", ""),
        version=_number(query, "resourceVersion"),
        version_match=query.get("resourceVersionMatch", ""),
        allow_bookmarks=flag(query, "allowWatchBookmarks"),
        send_initial_events=flag(query, "sendInitialEvents") if query.get("sendInitialEvents", "") else None,
        timeout_s=_number(query, "timeoutSeconds") if timeout else None,
    )


def include_object(query: Query) -> IncludeObject:
    """How much of an object a Table row carries (meta/v1 TableOptions). Raises ApiError 400."""
    value = query.get("includeObject", "")
    if value in ("", "Metadata"):
        return "Metadata"
    if value == "Object":
        return "Object"
    if value == "None":
        return "None"
    raise bad_request(f'includeObject: Unsupported value: "{value}": supported values: "Metadata", "Object", "None"')


def flag(query: Query, name: str) -> bool:
    return query.get(name, "") in ("1", "true", "True", "TRUE")


def dry_run(directives: Sequence[str], kind: str) -> bool:
    """`All` is the only directive there is; raises ApiError for others. `kind` is that of the options."""
    if faults := _dry_run_faults(directives):
        raise invalid_options(kind, *faults)
    return bool(directives)


def _dry_run_faults(directives: Sequence[str]) -> list[Fault]:
    return [not_supported("dryRun", list(directives), ["All"])] if set(directives) - {"All"} else []


def _manager_faults(manager: str) -> list[Fault]:
    if len(manager.encode()) > LIMIT_MANAGER_BYTES:
        return [too_long("fieldManager", LIMIT_MANAGER_BYTES)]
    return [
        invalid("fieldManager", manager, f"invalid character U+{ord(character):04X} (at position {position})")
        for position, character in enumerate(manager)
        if not character.isprintable()
    ]


def _number(query: Query, name: str) -> int | None:
    value = query.get(name, "")
    if not value:
        return None
    if not value.isascii() or not value.isdigit():
        raise bad_request(f'{name}: Invalid value: "{value}": must be a non-negative integer')
    return int(value)
