"""`python -m bench [NAME…]`: run benchmarks, print figures as they come, exit with 1 when one misses its bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Final

from bench import admission, controllers, edit, ownership, qps
from bench.figure import Figure, machine

BENCHMARKS: Final[dict[str, Callable[[], Iterator[Figure]]]] = {
    "admission": admission.measure,
    "controllers": controllers.measure,
    "edit": edit.measure,
    "ownership": ownership.measure,
    "qps": qps.measure,
}


def main(names: list[str]) -> int:
    """Run the benchmarks named, all when none is."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"error: found {unknown[0]!r}, allowed are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    print(f"machine: {machine()}", flush=True)
    missed = 0
    for name in names or BENCHMARKS:
        print(f"\n{name}", flush=True)
        for figure in BENCHMARKS[name]():
            print(f"  {figure.line()}", flush=True)
            missed += not figure.passed
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
