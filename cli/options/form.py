"""The forms of what a command tells: a table for people, one JSON document for programs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Form(StrEnum):
    """The forms of `-o`."""

    TABLE = "table"
    JSON = "json"


FormOption = Annotated[Form, typer.Option("--output", "-o", help="Form of the output.")]
