"""Which owner of a zone answers for a name: the name itself, or a wildcard above it (RFC 1034 section 4.3.2, RFC 4592).

Pure. Knows names only, neither records nor delegations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from zonemodel.name import APEX


@dataclass(frozen=True, slots=True)
class NameTree:
    """All relative names that exist in a zone, those too that have nothing but names below them."""

    names: frozenset[str]

    @classmethod
    def of(cls, owners: Iterable[str]) -> NameTree:
        """Return the tree of a zone whose records have these owners."""
        return cls(frozenset(name for owner in owners for name in _with_parents(owner)))

    def source(self, name: str) -> str | None:
        """Return the owner whose records answer for a relative name, None when the name does not exist."""
        if name in self.names or name == APEX:
            return name
        encloser = name
        while encloser not in self.names:
            if "." not in encloser:
                return "*" if "*" in self.names else None
            encloser = encloser.partition(".")[2]
        wildcard = f"*.{encloser}"
        return wildcard if wildcard in self.names else None


def _with_parents(owner: str) -> Iterator[str]:
    while True:
        yield owner
        _, dot, owner = owner.partition(".")
        if not dot:
            return
