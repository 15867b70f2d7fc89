"""Field paths as linked steps, so that descending costs one small tuple and text is made only for a fault.

Owns the two spellings Kubernetes uses for one path. Never walks objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Path(NamedTuple):
    """One step below `parent`; the root is None. `is_key` marks an entry of a map, a string `step` else is a field."""

    parent: Path | None
    step: str | int
    is_key: bool = False


def spelled(path: Path | None) -> str:
    """Return `spec.tags[0].name`, with map entries as fields: the spelling inside OpenAPI validation messages."""
    return "".join(
        f"[{step.step}]" if isinstance(step.step, int) else f".{step.step}" if step.parent else step.step
        for step in _steps(path)
    )


def spelled_with_keys(path: Path | None) -> str:
    """Return `spec.tags[0].labels[app]`: the spelling of fault fields outside OpenAPI validation; `<nil>` for the root."""
    if path is None:
        return "<nil>"
    return "".join(
        f"[{step.step}]"
        if isinstance(step.step, int) or step.is_key
        else f".{step.step}"
        if step.parent
        else str(step.step)
        for step in _steps(path)
    )


def _steps(path: Path | None) -> Iterator[Path]:
    steps: list[Path] = []
    while path is not None:
        steps.append(path)
        path = path.parent
    return reversed(steps)
