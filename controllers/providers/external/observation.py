"""What the answers of all servers mean for one record set, and for the zone.

Pure. Owns the order in which objections count: a server that says something else outweighs one that says nothing, since only the
first is known to be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import dns.rdatatype

from controllers.api.condition import MESSAGE_LIMIT, ConditionStatus
from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused, waiting
from controllers.probe.answer import Answer, Outcome
from controllers.probe.round import Round
from controllers.providers.external.wanted import Wanted
from zonemodel.name import object_to_domain

NAMED_SERVERS: Final = 3
VALUES_LIMIT_CHARS: Final = 240
NAME_SERVER_LIMIT: Final = 64

Told = Sequence[tuple[str, Answer]]


class Finding(IntEnum):
    """What one server's answer means for the records that are wanted; the smaller, the more it counts."""

    MISMATCH = 0
    NOT_FOUND = 1
    LAME = 2
    UNKNOWN = 3
    MATCH = 4


@dataclass(frozen=True, slots=True)
class Observation:
    """The verdict on a record set; `missing` when its lines are still to be put into the zone."""

    programmed: Verdict
    missing: bool


def judge_records(wanted: Wanted, told: Told, *, require_all: bool) -> Observation:
    """Return what the servers' answers mean for the records; `require_all` asks that every one of them is right."""
    findings = [(_find(wanted, answer), name, answer) for name, answer in told]
    matching = sum(finding is Finding.MATCH for finding, _, _ in findings)
    if findings and (matching == len(findings) or (matching and not require_all)):
        return Observation(_programmed(wanted, findings, matching), missing=False)
    worst = min((finding for finding, _, _ in findings), default=Finding.UNKNOWN)
    concerned = [(name, answer) for finding, name, answer in findings if finding is worst]
    verdict = _object(worst, wanted, concerned, len(findings))
    return Observation(verdict, missing=worst in (Finding.MISMATCH, Finding.NOT_FOUND))


def judge_stopped(wanted: Wanted, told: Told) -> Verdict | None:
    """Return None when every server has answered and none serves any of the values, else what is waited for."""
    silent = [(name, answer) for name, answer in told if not answer.outcome.is_answer]
    serving = [
        (name, answer)
        for name, answer in told
        if (answer.values if answer.outcome is Outcome.DATA else answer.glue) & wanted.values
    ]
    if serving:
        words = f"{len(serving)} of {len(told)} servers still serve it: {_names(serving)}. Remove it from the zone."
        return refused(Reason.PROVIDER_CHANGE_PENDING, words)
    if not told or silent:
        words = f"Not known whether it is gone: no word from {_described(silent)}." if silent else "No server is known."
        return waiting(Reason.PROVIDER_UNAVAILABLE, words)
    return None


def judge_zone(probed: Round) -> Verdict:
    """Return whether every server speaks for the zone."""
    told = probed.apex(dns.rdatatype.SOA)
    faults = [*probed.faults]
    if left_out := probed.left_out():
        faults.append(f"the apex names {_listed(left_out)}, which nobody asks")
    note = f" Seen besides: {'; '.join(dict.fromkeys(faults))}." if faults else ""
    if not told:
        reason = Reason.EXTERNAL_RESOURCE_NOT_FOUND if probed.denied else Reason.PROVIDER_UNAVAILABLE
        return _limited(refused(reason, f"No name server of {probed.zone} is found.{note}"))
    lame = [(name, answer) for name, answer in told if answer.outcome in (Outcome.LAME, Outcome.REFERRAL)]
    absent = [(name, answer) for name, answer in told if answer.outcome in (Outcome.NO_NAME, Outcome.NO_DATA)]
    unknown = [
        (name, answer) for name, answer in told if not answer.outcome.is_answer and answer.outcome is not Outcome.LAME
    ]
    if lame or absent:
        words = f"Not authoritative for {probed.zone}: {_described(lame + absent)}.{note}"
        return _limited(refused(Reason.PROVIDER_CONFLICT, words))
    if len(unknown) == len(told):
        return _limited(refused(Reason.PROVIDER_UNAVAILABLE, f"No name server answers: {_described(unknown)}.{note}"))
    if unknown:
        return _limited(waiting(Reason.PROVIDER_UNAVAILABLE, f"No word from {_described(unknown)}.{note}"))
    serials = {value.split()[2] for _, answer in told for value in answer.values}
    if len(serials) > 1:
        said = ", ".join(f"{name} {value.split()[2]}" for name, answer in told for value in answer.values)
        note = f" Serials differ: {said}.{note}"
    message = f"{len(told)} of {len(told)} servers speak for the zone.{note}"
    return _limited(Verdict(ConditionStatus.TRUE, Reason.PROGRAMMED, message))


def name_servers_of(probed: Round) -> tuple[str, ...]:
    """Return the NS set at the apex as the servers tell it: of all of them when they differ, canonical names only."""
    told = probed.apex(dns.rdatatype.NS)
    names = {value for _, answer in told if answer.outcome is Outcome.DATA for value in answer.values}
    return tuple(sorted(name for name in names if object_to_domain(name) is None)[:NAME_SERVER_LIMIT])


def _find(wanted: Wanted, answer: Answer) -> Finding:
    match answer.outcome:
        case Outcome.DATA:
            return Finding.MATCH if answer.values == wanted.values else Finding.MISMATCH
        case Outcome.REFERRAL if answer.glue and answer.glue == wanted.values:
            return Finding.MATCH  # addresses below a delegation are given with it, and never by themselves
        case Outcome.ALIAS | Outcome.REFERRAL:
            return Finding.MISMATCH
        case Outcome.NO_DATA | Outcome.NO_NAME:
            return Finding.NOT_FOUND
        case Outcome.LAME:
            return Finding.LAME
        case _:
            return Finding.UNKNOWN


def _programmed(wanted: Wanted, findings: Iterable[tuple[Finding, str, Answer]], matching: int) -> Verdict:
    found = list(findings)
    message = f"{matching} of {len(found)} servers answer with the records."
    right = [(name, answer) for finding, name, answer in found if finding is Finding.MATCH]
    other = [
        f"{name} {answer.ttl_s}"
        for name, answer in right
        if answer.outcome is Outcome.DATA and wanted.ttl_s is not None and answer.ttl_s != wanted.ttl_s
    ]
    if other:
        message += f" TTL: want {wanted.ttl_s}, got {_listed(other)}."
    return _limited(Verdict(ConditionStatus.TRUE, Reason.PROGRAMMED, message))


def _object(finding: Finding, wanted: Wanted, concerned: Told, asked: int) -> Verdict:
    count = f"{len(concerned)} of {asked} servers"
    match finding:
        case Finding.MISMATCH:
            got = "; ".join(f"{name} {describe(answer)}" for name, answer in concerned[:NAMED_SERVERS])
            more = f" and {len(concerned) - NAMED_SERVERS} more" if len(concerned) > NAMED_SERVERS else ""
            message = f"Want {list_values(wanted.values)}; got from {count}: {got}{more}."
            return _limited(refused(Reason.EXTERNAL_RESOURCE_MISMATCH, message))
        case Finding.NOT_FOUND:
            message = f"Want {list_values(wanted.values)}; not there on {count}: {_described(concerned)}."
            return _limited(refused(Reason.EXTERNAL_RESOURCE_NOT_FOUND, message))
        case Finding.LAME:
            return _limited(refused(Reason.PROVIDER_CONFLICT, f"Not authoritative: {count}: {_described(concerned)}."))
        case _ if len(concerned) == asked:
            words = f"No server answers: {_described(concerned)}." if asked else "No name server of the zone is found."
            return _limited(refused(Reason.PROVIDER_UNAVAILABLE, words))
        case _:
            return _limited(waiting(Reason.PROVIDER_UNAVAILABLE, f"No word from {count}: {_described(concerned)}."))


def describe(answer: Answer) -> str:
    """Return an answer in a few words."""
    match answer.outcome:
        case Outcome.DATA:
            return list_values(answer.values)
        case Outcome.ALIAS:
            return f"CNAME {answer.chain[0]}"
        case Outcome.REFERRAL if answer.glue:
            return f"{list_values(answer.glue)} with the delegation of {answer.cut}"
        case Outcome.REFERRAL:
            return f"a delegation of {answer.cut} to {list_values(answer.values)}"
        case Outcome.LAME if answer.rcode == "NOERROR":
            return "not authoritative"
        case Outcome.NO_DATA:
            return "no data"
        case _:
            return answer.rcode


def list_values(values: Iterable[str]) -> str:
    """Return values as one bounded text."""
    text = ", ".join(sorted(values))
    return text if len(text) <= VALUES_LIMIT_CHARS else f"{text[: VALUES_LIMIT_CHARS - 1]}…"


def _described(told: Told) -> str:
    return _listed([f"{name} {describe(answer)}" for name, answer in told])


def _names(told: Told) -> str:
    return _listed([name for name, _ in told])


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - NAMED_SERVERS} more" if len(words) > NAMED_SERVERS else ""
    return ", ".join(words[:NAMED_SERVERS]) + more


def _limited(verdict: Verdict) -> Verdict:
    if len(verdict.message) <= MESSAGE_LIMIT:
        return verdict
    return Verdict(verdict.status, verdict.reason, f"{verdict.message[: MESSAGE_LIMIT - 1]}…")
