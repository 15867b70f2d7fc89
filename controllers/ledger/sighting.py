"""What one round says about a withdrawal: whether any server gives the address for the name, by whatever way.

Pure. Aliases are followed inside the zone, one server at a time, and a wildcard counts by what it makes of a name that nobody has used.
An alias out of the zone ends the search: what stands there is not this zone's doing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import dns.rdatatype

from controllers.api.record_withdrawal_item import SERVER_LIMIT, UnitWithdrawal
from controllers.ledger.withdrawal import LONG_CHAIN_RCODE, REFERRAL_RCODE, ServerWord, Sighting
from controllers.probe.address import Address
from controllers.probe.answer import NOT_ASKED, Answer, Outcome, Question
from controllers.probe.prober import ALIAS_LIMIT
from controllers.probe.round import Round
from controllers.probe.subject import Subject, questions_of, target_of
from zonemodel.name import Fqdn
from zonemodel.record import RecordType

LONG_CHAIN: Final = Answer(Outcome.FAILED, LONG_CHAIN_RCODE)


def subject_of(item: UnitWithdrawal) -> Subject:
    """Return what is to be found out for a withdrawal."""
    return Subject(item.name, RecordType(item.type.value).code, proof=True)


def sight(item: UnitWithdrawal, probed: Round) -> Sighting | None:
    """Return what the round says about a withdrawal, None when it was not asked about."""
    questions = questions_of(subject_of(item), Fqdn(probed.zone), probed.label)
    words = []
    for server, address in _reached(probed):
        answers = probed.answers.get(address, {})
        if any(question not in answers for question in questions):
            return None
        walks = [_walk(question, probed, address) for question in questions]
        words.append(_word(server, item.address, walks, _apex_answer(probed, address)))
    words += _never_asked(probed)
    return Sighting(
        tuple(words), probed.began, probed.ended, _serial(probed), probed.began_s, probed.ended_s, probed.clock
    )


def _never_asked(probed: Round) -> Iterator[ServerWord]:
    """Yield what stands for servers that may well give the address: nobody has asked them."""
    for server in probed.servers:
        if server.unasked is not None:
            name, answer = server.unasked
            yield ServerWord(name, answer.rcode, answered=False)
    left_out = probed.left_out()
    yield from (ServerWord(name, NOT_ASKED.rcode, answered=False) for name in left_out[:SERVER_LIMIT])


def _apex_answer(probed: Round, address: Address) -> Answer | None:
    """Return what an address says of the name servers at the apex, None where it does not matter who else there is."""
    if probed.names is None:
        return None
    return probed.answers.get(address, {}).get(Question(probed.zone, dns.rdatatype.NS), NOT_ASKED)


def _reached(probed: Round) -> Iterable[tuple[str, Address]]:
    """Yield every address that there is a way to; of a server without one, its first."""
    for server in probed.servers:
        several = len(server.addresses) > 1
        apex = Question(probed.zone, dns.rdatatype.SOA)
        there = [each for each in server.addresses if not _is_unroutable(probed, each, apex)] or server.addresses[:1]
        yield from ((f"{server.name} ({each})" if several else server.name, each) for each in there)


def _is_unroutable(probed: Round, address: Address, apex: Question) -> bool:
    answer = probed.answers.get(address, {}).get(apex)
    return answer is not None and answer.outcome is Outcome.UNROUTABLE


def _walk(question: Question, probed: Round, address: Address) -> list[Answer]:
    """Return a server's answers from the name along its aliases; a missing link is an answer that never came."""
    answers = probed.answers.get(address, {})
    found = [answers[question]]
    for _ in range(ALIAS_LIMIT):
        target = target_of(found[-1], question, probed.zone)
        if target is None:
            return found
        question = target
        found.append(answers.get(question) or NOT_ASKED)
    if target_of(found[-1], question, probed.zone) is not None:
        # What is at the end of a chain that goes on and on is not known, and it may go in a circle.
        found.append(LONG_CHAIN)
    return found


def _word(server: str, address: str, walks: list[list[Answer]], apex: Answer | None) -> ServerWord:
    answers = [answer for walk in walks for answer in walk]
    gave = any(address in walk[-1].values and walk[-1].outcome is not Outcome.REFERRAL for walk in walks)
    failed = next((answer for answer in answers if not _is_told(answer)), None)
    if failed is None and apex is not None and apex.outcome is not Outcome.DATA:
        failed = apex
    ttl_s = max((answer.ttl_s or 0 for answer in answers), default=0) if gave else None
    rcode = answers[0].rcode
    if failed is not None:
        rcode = REFERRAL_RCODE if failed.outcome is Outcome.REFERRAL else failed.word
    return ServerWord(server, rcode, answered=failed is None, gave=gave, ttl_s=ttl_s)


def _is_told(answer: Answer) -> bool:
    """A name that is delegated away is answered by others: from here it is not known what it points at."""
    return answer.outcome.is_answer and answer.outcome is not Outcome.REFERRAL


def _serial(probed: Round) -> int | None:
    """Return the serial that the servers have, the smallest when they differ."""
    told = probed.apex(dns.rdatatype.SOA)
    return min((int(value.split()[2]) for _, answer in told for value in answer.values), default=None)
