from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from controllers.runtime.bucket import TokenBucket


def test_a_full_bucket_allows_a_burst_then_its_rate() -> None:
    bucket = TokenBucket(2.0, 3, now=0.0)
    assert [bucket.try_take(0.0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.try_take(moment) for moment in (0.4, 0.5, 0.9, 1.0)] == [False, True, False, True]
    assert [bucket.try_take(1000.0) for _ in range(4)] == [True, True, True, False]


def test_reservations_line_up() -> None:
    bucket = TokenBucket(2.0, 1, now=0.0)
    assert [bucket.reserve(0.0) for _ in range(3)] == [0.0, 0.5, 1.0]
    assert bucket.reserve(10.0) == 0.0


@given(st.lists(st.floats(0, 10), max_size=50), st.floats(0.1, 10), st.integers(1, 5))
def test_no_more_is_taken_than_burst_and_rate_allow(moments: list[float], rate_per_s: float, burst: int) -> None:
    bucket = TokenBucket(rate_per_s, burst, now=0.0)
    taken = sum(bucket.try_take(moment) for moment in sorted(moments))
    assert taken <= burst + rate_per_s * 10 + 1e-6
