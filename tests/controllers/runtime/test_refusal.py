"""Writes that were refused: how long, and for which grounds, that is remembered."""

from __future__ import annotations

import traceback

from controllers.runtime.refusal import AGAIN_S, Refusals
from kube.errors import Invalid


def refused() -> Invalid:
    try:
        raise Invalid("no", code=422)
    except Invalid as error:
        return error


def test_a_refusal_counts_for_its_ground_and_for_a_while() -> None:
    now = 0.0
    refusals: Refusals[str] = Refusals(lambda: now)
    assert refusals.of("www", lambda: 1) is None
    assert refusals.left_s("www") is None
    refusals.note("www", 1, refused())
    now = AGAIN_S - 1
    assert refusals.of("www", lambda: 1) is not None
    assert refusals.left_s("www") == 1
    now = AGAIN_S
    assert refusals.of("www", lambda: 1) is None
    refusals.note("www", 1, refused())
    assert refusals.of("www", lambda: 2) is None
    assert refusals.left_s("www") is None


def test_a_refusal_that_is_raised_again_and_again_does_not_grow() -> None:
    """An exception that is raised keeps every frame that it passes, and all that is known there."""
    refusals: Refusals[str] = Refusals(lambda: 0.0)
    refusals.note("www", 1, refused())
    lengths = set()
    for _ in range(3):
        try:
            found = refusals.of("www", lambda: 1)
            assert found is not None
            raise found
        except Invalid as error:
            lengths.add(len(traceback.extract_tb(error.__traceback__)))
    assert lengths == {1}
