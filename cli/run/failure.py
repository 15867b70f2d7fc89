"""What went wrong in parts that run beside one another: they fail as a group, people want to know of each."""

from __future__ import annotations

from collections.abc import Iterator


def leaves(error: Exception) -> Iterator[Exception]:
    """Yield what a group holds, however deep, or the error itself."""
    if isinstance(error, ExceptionGroup):
        for each in error.exceptions:
            yield from leaves(each)
    else:
        yield error
