"""What the series tell of RecordSets that are not programmed, as a cache tells of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from prometheus_client import REGISTRY

from controllers.api.condition import Condition, ConditionStatus
from controllers.api.record_set import RecordSet, RecordSetStatus
from controllers.core.unprogrammed import Unprogrammed
from kube.store import Change
from kube.timestamp import time_text
from tests.controllers.core.build import record_set

CREATED_S = 1_793_491_200.0
"""When RecordSets of `build` were made."""


class Followed:
    """RecordSets by name, and a clock in the test's hand."""

    def __init__(self) -> None:
        self.now = CREATED_S
        self.watched = Unprogrammed(lambda: self.now)
        self._known: dict[str, RecordSet] = {}

    def becomes(self, name: str, **statuses: str) -> None:
        """Have conditions be `True`, or the word that they are not with."""
        since = time_text(datetime.fromtimestamp(self.now, UTC))
        conditions = tuple(
            Condition(
                type=kind,
                status=ConditionStatus.TRUE if reason == "True" else ConditionStatus.FALSE,
                reason=reason,
                last_transition_time=since,
            )
            for kind, reason in statuses.items()
        )
        claim = replace(record_set(name), status=RecordSetStatus(conditions=conditions))
        self.watched.note("RecordSet", Change(claim.key, self._known.get(name), claim))
        self._known[name] = claim

    def goes(self, name: str) -> None:
        claim = self._known.pop(name)
        self.watched.note("RecordSet", Change(claim.key, claim, None))


@pytest.fixture
def followed() -> Iterator[Followed]:
    made = Followed()
    yield made
    made.watched.close()


def told(reason: str) -> tuple[float | None, float | None]:
    """How many, and for how long at most."""
    labels = {"kind": "RecordSet", "reason": reason}
    value = REGISTRY.get_sample_value
    return value("dns_api_unprogrammed_objects", labels), value("dns_api_unprogrammed_seconds", labels)


def test_objects_count_by_the_first_condition_that_is_not_true(followed: Followed) -> None:
    followed.becomes("a", Accepted="NotAllowedByZone", Programmed="ProviderConflict")
    followed.becomes("b", Accepted="True", Programmed="ProviderConflict")
    followed.becomes("c", Accepted="True", Programmed="ProviderConflict")
    followed.becomes("d", Accepted="True", Programmed="True")
    assert (told("NotAllowedByZone"), told("ProviderConflict"), told("True")) == ((1, 0), (2, 0), (None, None))


def test_the_longest_wait_counts_whatever_it_was_for(followed: Followed) -> None:
    followed.becomes("a", Accepted="NotAllowedByZone")
    followed.now += 60
    followed.becomes("b", Accepted="True", Programmed="ProviderConflict")
    assert told("ProviderConflict") == (1, 0)
    followed.now += 60
    followed.becomes("a", Accepted="True", Programmed="ProviderConflict")
    assert (told("NotAllowedByZone"), told("ProviderConflict")) == ((0, 0), (2, 120))


def test_what_comes_and_goes_waits_never_long(followed: Followed) -> None:
    for _ in range(3):
        followed.now += 60
        followed.becomes("a", Accepted="True", Programmed="ProviderChangePending")
        assert told("ProviderChangePending") == (1, 0)
        followed.becomes("a", Accepted="True", Programmed="True")
        assert told("ProviderChangePending") == (0, 0)
    followed.becomes("a", Accepted="True", Programmed="ProviderChangePending")
    followed.goes("a")
    assert told("ProviderChangePending") == (0, 0)


def test_an_object_that_nobody_looks_at_waits_since_it_was_made(followed: Followed) -> None:
    followed.now += 90
    followed.becomes("a")
    followed.becomes("b", Accepted="True")
    assert told("NotJudged") == (2, 90)


def test_clocks_that_disagree_make_no_negative_wait(followed: Followed) -> None:
    followed.now -= 5
    followed.becomes("a")
    assert told("NotJudged") == (1, 0)


def test_whoever_leads_no_longer_tells_nothing(followed: Followed) -> None:
    followed.becomes("a")
    followed.watched.close()
    assert told("NotJudged") == (None, None)
