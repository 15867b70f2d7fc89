"""Lengths of time as options spell them: 30, 30s, 2m, 1h30m."""

from __future__ import annotations

import re
from typing import Final

import typer

_FORM: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?")


def parse_seconds(text: str, option: str) -> float:
    """Return seconds; raises typer.BadParameter, which names what was found and what is allowed."""
    match = _FORM.fullmatch(text.strip())
    if not text.strip() or match is None:
        raise typer.BadParameter(
            f"found {text!r}, allowed is a length of time, such as 30s, 5m or 1h30m", param_hint=option
        )
    hours, minutes, seconds = match.groups()
    return 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(seconds or 0)
