from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.body import dump, parse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_values_survive(value: object) -> None:
    assert parse(dump(value)) == value


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("body", [b'"%s"' % (b"x" * 100_000), b'["%s"' % (b"x" * 100_000)])
def test_large_bodies_leave_the_collector_as_it_was(body: bytes, enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        if body.startswith(b"["):
            with pytest.raises(ValueError, match="unexpected end"):
                parse(body)
        else:
            assert parse(body) == "x" * 100_000
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
