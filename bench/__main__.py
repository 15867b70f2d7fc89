"""`python -m bench [NAME…]`: run benchmarks, print figures as they come, write them to docs/benchmarks.md.

It ends with 1 when a figure misses its bar.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Final

from bench import (
    admission,
    cluster,
    controllers,
    edit,
    endpoint,
    flood,
    ownership,
    probe,
    qps,
    report,
    scaling,
    tcp,
    tls,
    transfer,
    update,
    zone_load,
)
from bench.figure import Figure, machine

_MODULES: Final[dict[str, ModuleType]] = {
    "admission": admission,
    "cluster": cluster,
    "controllers": controllers,
    "edit": edit,
    "endpoint": endpoint,
    "flood": flood,
    "load": zone_load,
    "ownership": ownership,
    "probe": probe,
    "qps": qps,
    "scaling": scaling,
    "tcp": tcp,
    "tls": tls,
    "transfer": transfer,
    "update": update,
}
BENCHMARKS: Final[dict[str, Callable[[], Iterator[Figure]]]] = {name: each.measure for name, each in _MODULES.items()}


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
        figures = []
        for figure in BENCHMARKS[name]():
            print(f"  {figure.line()}", flush=True)
            figures.append(figure)
        report.write(name, (_MODULES[name].__doc__ or "").partition("\n\npython -m")[0].strip(), figures)
        missed += sum(not figure.passed for figure in figures)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
