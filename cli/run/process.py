"""How the process of a long-running command is set up before its event loop starts."""

from __future__ import annotations

import gc
from typing import Final

# Decoding one large object makes tens of thousands of containers and no cycles. With the interpreter's thresholds each of them
# makes the collector walk everything the caches hold, which takes longer than the decoding itself.
THRESHOLDS: Final = (100_000, 50, 100)


def relax_collector() -> None:
    """Leave what is loaded so far out of collections, and make collections rare."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
