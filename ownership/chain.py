"""Which of an owner's visible manifests holds: the newest of one unbroken chain, or none for a reason.

Pure. Never guesses: two possible answers are no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from ownership.codec.envelope import Digest
from ownership.codec.manifest import SealedManifest


class ChainFault(StrEnum):
    """Why no manifest can be selected."""

    COMPETING_CHILDREN = "CompetingChildren"
    """Two manifests follow the same one."""
    UNRELATED_HISTORIES = "UnrelatedHistories"
    """Manifests of one owner that do not follow from one another."""
    REVISION_GAP = "RevisionGap"
    """Revisions are missing between those that are visible."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The selected manifest, and those before it that are still visible, oldest first."""

    selected: SealedManifest
    predecessors: tuple[SealedManifest, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokenChain:
    """No manifest holds; `detail` names revisions and digests."""

    fault: ChainFault
    detail: str


def select(manifests: Iterable[SealedManifest]) -> Chain | BrokenChain | None:
    """Return the chain that the manifests of one owner form, None when there are none.

    The same manifest at two names counts once.
    """
    visible = {each.digest: each for each in manifests}
    if not visible:
        return None
    children = Counter(each.manifest.previous for each in visible.values())
    parent, most = children.most_common(1)[0]
    if most > 1 and parent:
        rivals = sorted(_told(each) for each in visible.values() if each.manifest.previous == parent)
        return BrokenChain(ChainFault.COMPETING_CHILDREN, f"{' and '.join(rivals)} follow {parent[:12]}")
    ordered = sorted(visible.values(), key=lambda each: (each.manifest.revision, each.digest))
    for each in ordered:
        before = visible.get(each.manifest.previous)
        if before is not None and each.manifest.revision != before.manifest.revision + 1:
            return BrokenChain(ChainFault.REVISION_GAP, f"{_told(each)} follows {_told(before)}")
    for before, after in pairwise(ordered):
        pair = f"{_told(before)} and {_told(after)}"
        if after.manifest.revision > before.manifest.revision + 1:
            return BrokenChain(ChainFault.REVISION_GAP, f"nothing is visible between {pair}")
        if after.manifest.previous != before.digest:
            return BrokenChain(ChainFault.UNRELATED_HISTORIES, f"{pair} do not follow from one another")
    return Chain(ordered[-1], tuple(ordered[:-1]))


def unused_pages(predecessor: SealedManifest, selected: SealedManifest) -> tuple[Digest, ...]:
    """Return the pages of a predecessor that the selected snapshot does without."""
    kept = set(selected.manifest.pages)
    return tuple(each for each in predecessor.manifest.pages if each not in kept)


def _told(sealed: SealedManifest) -> str:
    return f"revision {sealed.manifest.revision} ({sealed.digest[:12]})"
