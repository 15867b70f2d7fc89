"""How far long work has come: a bar on a terminal, a line now and then elsewhere; always on standard error.

Owns the showing only.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

_LINE_PERIOD_S: Final = 5.0

Told = Callable[[str, int, int], None]
"""Takes what is done, how much of it, and how much there is."""


@contextmanager
def progress() -> Iterator[Told]:
    """Show progress while the block runs."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks = {}

        def told(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield told


def _lines() -> Told:
    last_s = time.monotonic()

    def told(what: str, done: int, total: int) -> None:
        nonlocal last_s
        if time.monotonic() - last_s >= _LINE_PERIOD_S:
            last_s = time.monotonic()
            typer.echo(f"{what}: {done:,} of {total:,}", err=True)

    return told
