"""Regular expressions of schemas, in RE2 syntax as Kubernetes uses it.

Owns compiling and searching; linear time whatever the pattern. The one module that touches the untyped re2 package.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import re2


class Pattern:
    """A compiled RE2 expression that may match anywhere in the text."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        """Raise ValueError with RE2's own words when `text` is not a valid expression."""
        options = re2.Options()
        options.log_errors = False
        try:
            compiled: Any = re2.compile(text, options=options)
        except re2.error as fault:
            raise ValueError(_words(fault)) from fault
        self._compiled = compiled
        self.text = text

    def __reduce__(self) -> tuple[type[Pattern], tuple[str]]:
        return Pattern, (self.text,)

    def matches(self, subject: str) -> bool:
        return self._compiled.search(subject) is not None

    def find_all(self, subject: str, *, limit: int | None) -> list[str]:
        """Return the texts of at most `limit` matches, from left to right."""
        return [match.group(0) for match in islice(self._compiled.finditer(subject), limit)]


def _words(fault: Exception) -> str:
    reason = fault.args[0] if fault.args else ""
    return reason.decode() if isinstance(reason, bytes) else str(reason)
