"""How long many claims take from the first request until the last is Programmed, and what memory that takes.

python -m bench controllers
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bench.figure import Figure
from bench.load import load
from bench.product import running

ZONES: Final = 5
RECORDS_EACH: Final = 1000
SHARE: Final = 4
LIMIT_S: Final = 60.0
MEMORY_MB: Final = 400.0
LINEAR_AT_MOST: Final = 1.5


def measure() -> Iterator[Figure]:
    """Yield the figures for a quarter of the load and for all of it."""
    few = _run(RECORDS_EACH // SHARE)
    many = _run(RECORDS_EACH)
    for records, (created, programmed, memory) in ((RECORDS_EACH // SHARE, few), (RECORDS_EACH, many)):
        what = f"{ZONES * records} RecordSets in {ZONES} zones"
        yield Figure(f"{what}: created", created, "s")
        yield Figure(f"{what}: all Programmed", programmed, "s", LIMIT_S)
        yield Figure(f"{what}: peak memory of the whole product", memory, "MB", MEMORY_MB)
    per_few, per_many = few[1] / (RECORDS_EACH // SHARE), many[1] / RECORDS_EACH
    yield Figure(f"time for one RecordSet, {SHARE} times as many : as many", per_many / per_few, "x", LINEAR_AT_MOST)


def _run(records_each: int) -> tuple[float, float, float]:
    with running() as product:
        created, programmed = load(product.kubeconfig, ZONES, records_each, 4 * LIMIT_S)
        return created, programmed, product.peak_memory_mb()
