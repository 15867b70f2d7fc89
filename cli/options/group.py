"""Options of a command in groups: a frozen dataclass for each, whose fields are options as typer reads them.

Owns the joining of groups into one command, so that a command with many options stays a function of a few values.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its dataclass parameters in place of these parameters.

    Field names become option names, so no two groups may have one in common; raises ValueError when they do.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            groups[parameter.name] = kind
            parameters += _options(kind)
        else:
            parameters.append(_keyword(parameter.name, hints[parameter.name], parameter.default))

    @functools.wraps(command)
    def ungrouped(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        command(**given)

    ungrouped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer looks at
    ungrouped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return ungrouped


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        _keyword(each.name, hints[each.name], inspect.Parameter.empty if each.default is MISSING else each.default)
        for each in fields(group)
    ]


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
