"""Which manifest holds when several are visible, and which ones never hold."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ownership.chain import BrokenChain, Chain, ChainFault, select, unused_pages
from ownership.codec.envelope import Digest
from ownership.codec.manifest import Manifest, SealedManifest, decode_manifest, encode_manifest
from ownership.naming import OwnerID
from tests.ownership import golden


def follow(previous: SealedManifest | None, note: str = "", step: int = 1) -> SealedManifest:
    """The next revision; `note` tells rivals apart."""
    pages = (Digest(golden.sha(note.encode())),) if note else ()
    revision = (previous.manifest.revision if previous else 0) + step
    parent = previous.digest if previous else Digest("")
    return encode_manifest(Manifest(OwnerID("prod"), revision, parent, pages, len(pages)))


ONE = follow(None)
TWO = follow(ONE)
THREE = follow(TWO)

BROKEN = {
    "two children": ([ONE, follow(ONE, "a"), follow(ONE, "b")], ChainFault.COMPETING_CHILDREN),
    "two children whose parent is gone": ([follow(ONE, "a"), follow(ONE, "b")], ChainFault.COMPETING_CHILDREN),
    "two children of different revisions": ([ONE, TWO, follow(ONE, "a", step=2)], ChainFault.COMPETING_CHILDREN),
    "two beginnings": ([follow(None, "a"), follow(None, "b")], ChainFault.UNRELATED_HISTORIES),
    "two histories of one age": (
        [follow(follow(None, "a")), follow(follow(None, "b"))],
        ChainFault.UNRELATED_HISTORIES,
    ),
    "a second revision of another first one": ([follow(None, "a"), TWO], ChainFault.UNRELATED_HISTORIES),
    "a revision missing": ([ONE, THREE], ChainFault.REVISION_GAP),
    "a leap": ([ONE, follow(ONE, step=2)], ChainFault.REVISION_GAP),
    "far apart": ([ONE, follow(follow(THREE))], ChainFault.REVISION_GAP),
    "a child no newer than its parent": ([TWO, follow(TWO, "a", step=0)], ChainFault.REVISION_GAP),
}


@pytest.mark.parametrize(("manifests", "fault"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_single_history_is_ambiguous(manifests: list[SealedManifest], fault: ChainFault) -> None:
    for order in permutations(manifests):
        found = select(order)
        assert isinstance(found, BrokenChain)
        assert found.fault is fault
        assert "revision" in found.detail


def test_nothing_is_no_chain() -> None:
    assert select([]) is None


def test_a_manifest_alone_holds_whatever_its_revision() -> None:
    assert select([THREE]) == Chain(THREE)


def test_predecessors_come_oldest_first() -> None:
    assert select([TWO, THREE, ONE]) == Chain(THREE, (ONE, TWO))
    assert select([THREE, TWO]) == Chain(THREE, (TWO,))


def test_pages_that_the_selected_snapshot_uses_are_not_unused() -> None:
    one, second, third = map(decode_manifest, golden.CHAIN)
    assert unused_pages(one, third) == (golden.sha(golden.ONE_PAGE),)
    assert unused_pages(one, second) == ()


@given(st.integers(1, 12), st.data())
def test_any_end_of_a_history_holds_and_any_hole_in_it_does_not(length: int, data: st.DataObject) -> None:
    history: list[SealedManifest] = []
    for _ in range(length):
        history.append(follow(history[-1] if history else None))
    visible = data.draw(st.sets(st.integers(0, length - 1), min_size=1))
    found = select(data.draw(st.permutations([history[at] for at in visible])))
    if len(visible) == max(visible) - min(visible) + 1:
        assert found == Chain(history[max(visible)], tuple(history[at] for at in sorted(visible)[:-1]))
    else:
        assert isinstance(found, BrokenChain)
        assert found.fault is ChainFault.REVISION_GAP
