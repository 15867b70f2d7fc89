"""Which records answer which question: the case files, over UDP and over TCP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.question import Expectation, Target, read_cases

CASES = [case for path in sorted((Path(__file__).parent / "cases").glob("*.cases")) for case in read_cases(path)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_question_gets_the_records_that_the_rfcs_name(case: Expectation, target: Target) -> None:
    case.hold(target.ask(case.name, case.rdtype))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_edns_and_tcp_change_nothing_about_them(case: Expectation, target: Target) -> None:
    case.hold(target.ask(case.name, case.rdtype, tcp=True, use_edns=0, payload=1232))
