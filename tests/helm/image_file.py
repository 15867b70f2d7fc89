"""The Dockerfile as data: its stages with their instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.helm.place import ROOT


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage with its instructions as (word, rest)."""

    name: str
    parent: str
    instructions: tuple[tuple[str, str], ...]

    def all_of(self, word: str) -> list[str]:
        return [rest for each, rest in self.instructions if each == word]


def stages() -> dict[str, Stage]:
    """Return every stage by its name, in the order of the file."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found: dict[str, Stage] = {}
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "FROM":
            parent, _, name = rest.partition(" AS ")
            found[name] = Stage(name, parent, ())
        elif found:
            last = found[next(reversed(found))]
            found[last.name] = Stage(last.name, last.parent, (*last.instructions, (word, rest)))
    return found
