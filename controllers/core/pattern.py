"""Regular expressions that come from manifests, evaluated by RE2: linear in the text, bounded in memory.

The one module of core that touches re2. Never falls back to a backtracking engine.
"""

from __future__ import annotations

from typing import Any, Final

import re2

PATTERN_LIMIT_CHARS: Final = 512
PATTERN_MEMORY_BYTES: Final = 64 * 1024


class PatternError(ValueError):
    """A pattern that is too long, too large or no RE2 expression; the text says which."""


class Pattern:
    """One compiled expression."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        """Compile an expression. Raises PatternError."""
        if len(text) > PATTERN_LIMIT_CHARS:
            raise PatternError(f"it has {len(text)} characters, allowed are {PATTERN_LIMIT_CHARS}")
        self.text = text
        self._compiled: Any = _compile(text)

    @property
    def size(self) -> int:
        """Instructions of the compiled program: at worst all of them run for each octet of a text."""
        return int(self._compiled.programsize)

    def matches(self, text: str) -> bool:
        """Say whether the expression matches the whole text."""
        return _holds(self._compiled.fullmatch, text)

    def occurs_in(self, text: str) -> bool:
        """Say whether the expression matches somewhere in the text."""
        return _holds(self._compiled.search, text)


def _compile(text: str) -> Any:
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY_BYTES
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else "it cannot be read"
        raise PatternError(reason.decode() if isinstance(reason, bytes) else str(error)) from error


def _holds(match: Any, text: str) -> bool:
    try:
        return match(text) is not None
    except UnicodeEncodeError:  # a lone surrogate is no text, and matches nothing
        return False
