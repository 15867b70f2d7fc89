"""AdmissionReviews, good and bad: every kind as it should be, and spoiled at each of its places in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.controllers.core.admission.build import ABSENT, TYPES, Manifest, changed, condition, record_set, zone
from tests.controllers.core.admission.test_handler import MANIFESTS, review

SPOILS: tuple[Any, ...] = (ABSENT, None, 0, "Ünfit..", [], {}, ["x"], {"x": "y"})
STATUSES: tuple[Manifest, ...] = (
    {"observedGeneration": 3},
    {"observedGeneration": 4},
    {"conditions": [condition("Accepted", "True", "Accepted")]},
    {"conditions": [condition("Accepted", "False", "Programmed"), condition("Accepted", "Maybe", "")]},
    {"zone": {"ref": {"namespace": "app", "name": "other"}, "controllerName": "x"}},
    {"provider": {"data": {"zoneID": 1}, "state": {}}},
)


def reviews() -> Iterator[tuple[str, str | None, Manifest]]:
    """Yield (plural, subresource, review)."""
    for plural, make in MANIFESTS.items():
        good = make()
        yield plural, None, review(plural, "CREATE", good)
        yield plural, None, review(plural, "UPDATE", good, good)
        yield plural, None, review(plural, "DELETE", None, good)
        # What a Provider says is compiled each time that it is judged, so its places take turns with the values.
        for number, path in enumerate(places(good["spec"], "spec")):
            for value in SPOILS if plural != "providers" else (SPOILS[number % len(SPOILS)],):
                bad = changed(good, {path: value}) if value is not ABSENT or not path[-1].isdigit() else good
                operation, old = ("UPDATE", good) if number % 2 else ("CREATE", None)
                yield plural, None, review(plural, operation, bad, old, dryRun=number % 3 == 0)
        if plural == "providers":
            continue
        for status in STATUSES:
            yield plural, "status", review(plural, "UPDATE", {**good, "status": status}, good, subResource="status")
    for kind in TYPES:
        yield "recordsets", None, review("recordsets", "CREATE", record_set(kind))
    yield "zones", None, review("zones", "CREATE", zone({"metadata.name": "example.part-1"}))
    yield "zones", None, review("zones", "CREATE", None)
    yield "zones", None, review("zones", "CONVERT", zone())
    yield "zones", None, {}


def places(value: object, path: str) -> Iterator[str]:
    """Yield the dotted path of everything below a value."""
    children: Iterator[tuple[str, object]] = iter(())
    if isinstance(value, Mapping):
        children = iter(value.items())
    elif isinstance(value, list):
        children = ((str(index), item) for index, item in enumerate(value))
    for name, child in children:
        yield f"{path}.{name}"
        yield from places(child, f"{path}.{name}")
