"""Serials go forward for a domain, whichever zone publishes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from controllers.providers.hosted.serial import Serials

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
START_S = int(START.timestamp())


class Clock:
    def __init__(self) -> None:
        self.passed_s = 0.0

    def __call__(self) -> datetime:
        return START + timedelta(seconds=self.passed_s)


def test_a_serial_is_the_time_or_one_more() -> None:
    clock = Clock()
    serials = Serials(clock)
    assert serials.next("a.test", None) == START_S
    assert serials.next("a.test", START_S) == START_S + 1
    clock.passed_s = 60
    assert serials.next("a.test", START_S + 1) == START_S + 60


def test_another_zone_goes_on_where_the_domain_was() -> None:
    serials = Serials(Clock())
    first = serials.next("a.test", None)
    ahead = serials.next("a.test", serials.next("a.test", first))
    assert serials.next("a.test", None) == ahead + 1


def test_domains_do_not_push_one_another() -> None:
    serials = Serials(Clock())
    assert serials.next("a.test", START_S + 1000) == START_S + 1001
    assert serials.next("b.test", None) == START_S


def test_a_zone_that_is_ahead_of_the_domain_keeps_its_lead() -> None:
    serials = Serials(Clock())
    serials.next("a.test", None)
    assert serials.next("a.test", START_S + 50) == START_S + 51


def test_what_the_clock_has_passed_is_not_kept() -> None:
    clock = Clock()
    serials = Serials(clock)
    for number in range(1000):
        clock.passed_s = number
        serials.next(f"{number}.test", None)
    assert len(serials) <= 2
