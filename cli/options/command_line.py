"""The words of the command line that typer would take from Python: `TEXT` for `<str>`, and what was found beside what is allowed.

Owns these words for every command, so that no option has to repeat them. A metavar of an option's own goes before them.
"""

from __future__ import annotations

from typing import Any, Final

import typer
from pydantic import ValidationError
from typer.core import TyperArgument, TyperGroup, TyperOption

_ALLOWED: Final = {
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
}
_WORDS: Final = {
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
    "<path>": "PATH",
    "<list[Path]>": "PATH",
    "<int>": "N",
    "<int range>": "N",
    "<float>": "N",
    "<float range>": "N",
}


class CommandLine(TyperGroup):
    """A group whose commands speak to people who know no Python."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # typer has no public names of these types
        """Return a command, its options in these words."""
        command = super().get_command(ctx, cmd_name)
        for each in (command, *getattr(command, "commands", {}).values()):
            for parameter in getattr(each, "params", ()):
                _reword(parameter, ctx)
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run what was called; raises typer.BadParameter for options that are wrong."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            if isinstance(error.__cause__, ValidationError):
                error.message = _told(error.__cause__)
            raise


def _told(error: ValidationError) -> str:
    fault = error.errors()[0]
    if fault["type"] == "value_error":
        return str(fault["ctx"]["error"])
    return f"found {fault['input']!r}, allowed is {_ALLOWED.get(fault['type'], fault['msg']).format(**fault.get('ctx', {}))}"


def _reword(parameter: object, ctx: Any) -> None:
    if isinstance(parameter, TyperArgument):  # its name stands there, and says what it is
        parameter.display_type_rich = lambda ctx: None  # type: ignore[method-assign]  # there is no setting for it
    elif isinstance(parameter, TyperOption) and parameter.metavar is None:
        parameter.metavar = _WORDS.get(parameter.display_type(ctx))
