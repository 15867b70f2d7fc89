"""Conflicts of an apply with other managers, and how they are told.

Owns the wording of the refusal. What conflicts is decided in `ownership`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from standalone.fields.element import shown
from standalone.fields.managed import UPDATE, ManagerId
from standalone.fields.trie import Trie, paths
from standalone.schema.gotext import quote


@dataclass(frozen=True, slots=True)
class Conflict:
    """One field another manager owns; `manager` is who, as messages show it."""

    manager: str
    path: tuple[str, ...]

    @property
    def field(self) -> str:
        return shown(self.path)


class ApplyConflict(Exception):  # noqa: N818 - named after the reason that clients see
    """Fields owned by others would change: 409 Conflict, with a cause for each field."""

    status_code = 409
    reason = "Conflict"

    def __init__(self, conflicts: Iterable[Conflict]) -> None:
        self.conflicts = tuple(conflicts)
        self.message = _message(self.conflicts)
        super().__init__(self.message)

    @property
    def causes(self) -> list[dict[str, str]]:
        """The `details.causes` of the Status."""
        return [
            {
                "reason": "FieldManagerConflict",
                "message": f"conflict with {conflict.manager}",
                "field": conflict.field,
            }
            for conflict in self.conflicts
        ]


def conflicts_from(found: dict[ManagerId, Trie]) -> list[Conflict]:
    """Return one conflict for each field, by manager and then by path."""
    return [Conflict(_shown_manager(identity), path) for identity in sorted(found) for path in paths(found[identity])]


def _shown_manager(identity: ManagerId) -> str:
    text = quote(identity.manager)
    if identity.subresource:
        text = f"{text} with subresource {quote(identity.subresource)}"
    if identity.operation == UPDATE:
        text = f"{text} using {identity.api_version}"
    return text


def _message(conflicts: tuple[Conflict, ...]) -> str:
    if len(conflicts) == 1:
        only = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {only.manager}: {only.field}"
    lines = []
    for manager in sorted({conflict.manager for conflict in conflicts}):
        lines.append(f"conflicts with {manager}:")
        lines.extend(f"- {conflict.field}" for conflict in conflicts if conflict.manager == manager)
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
