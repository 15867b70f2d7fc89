"""Boolean options as programs of Kubernetes spell them: `--flag=true` and `--flag=false` beside `--flag` and `--no-flag`.

Owns the translation, for every boolean option of a command. An option that has no `--no-` form takes no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperOption

_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})
"""What Go's strconv.ParseBool takes, which reads the flags of such programs."""


class BooleanFlagCommand(TyperCommand):
    """A command whose boolean options may be given a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # its context's type is no public name of typer
        """Read the command line; raises typer.BadParameter for a value that is neither true nor false."""
        switches = {
            on: off
            for option in self.params
            if isinstance(option, TyperOption) and option.is_bool_flag
            for on, off in zip(option.opts, option.secondary_opts, strict=False)
        }
        return super().parse_args(ctx, _without_values(args, switches))


def switched(words: Sequence[str], flag: str, default: bool) -> bool:
    """Say what a command line makes of a switch, `flag` being without `--`; values that are neither true nor false count for nothing."""
    found = default
    for word in words:
        if word in (f"--{flag}", f"--no-{flag}"):
            found = word == f"--{flag}"
        elif (value := word.removeprefix(f"--{flag}=")) != word and value in _TRUE | _FALSE:
            found = value in _TRUE
    return found


def _without_values(words: Sequence[str], switches: dict[str, str]) -> list[str]:
    """Return the words with each `--on=VALUE` as the option that means it; what follows a bare `--` is not read."""
    end = words.index("--") if "--" in words else len(words)
    return [*(_without_value(each, switches) for each in words[:end]), *words[end:]]


def _without_value(word: str, switches: dict[str, str]) -> str:
    name, equals, value = word.partition("=")
    if not equals or name not in switches:
        return word
    if value in _TRUE:
        return name
    if value in _FALSE:
        return switches[name]
    raise typer.BadParameter(f"found {value!r}, allowed are true and false", param_hint=name)
