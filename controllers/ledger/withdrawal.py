"""Results of withdrawals: from what was seen in one look at all servers to what the ledger says.

Pure. Owns the proof. An address is withdrawn when every server has answered and none gave it, in two looks at least one TTL apart: until
then somebody may still hold the answer of before. That time is measured with a clock that nobody puts, so both looks are of one process;
a proof that is complete outlives it, half of one does not. What is only not known proves nothing and loses nothing either. Notes for the
next look stand in the private state of the result itself, and begin anew when the claim, its class or the servers are others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Annotated, Any, Final

from pydantic import Field

from controllers.api.condition import Condition, ConditionStatus, merge_conditions
from controllers.api.record_withdrawal_item import (
    SERVER_LIMIT,
    ClassBinding,
    UnitWithdrawal,
    UnitWithdrawalStatus,
    WithdrawalProviderData,
)
from controllers.api.record_withdrawal_reason import WithdrawalCondition, WithdrawalReason
from kube.timestamp import micro_time_text, time_text
from zonemodel.model import Model

SHORTEST_TTL_S: Final = 60
LONGEST_TTL_S: Final = 3600
EVIDENCE_AGE_S: Final = 600
NAMED_SERVERS: Final = 5
NOTED_SERVERS: Final = 16
"""So many servers are noted by name; more of them by a digest, so that a ledger has room for the notes of all its withdrawals."""
LONG_CHAIN_RCODE: Final = "CHAIN"
REFERRAL_RCODE: Final = "REFERRAL"
_WORDS: Final = {
    LONG_CHAIN_RCODE: "the chain of aliases is too long",
    REFERRAL_RCODE: "the name is delegated to servers of another zone",
    "LAME": "the server does not have the zone",
    "NOADDRESS": "the server has no address",
    "UNRESOLVED": "no resolver tells all addresses of the server",
    "NOTASKED": "nobody has asked the server",
    "TOOMANY": "there is more than is asked for or read",
    "BEHIND": "the server has not got the newest snapshot",
}
"""What stands where a server gave no RCODE, and is not plain by itself."""

_C, _R = WithdrawalCondition, WithdrawalReason
_T, _F, _U = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN


class ServerEvidence(Model):
    """What one server said."""

    server: Annotated[str, Field(description="The server that was asked.")]
    rcode: Annotated[str, Field(description="RCODE of its answer, or why there was none.")]
    observed_time: Annotated[
        str, Field(description="When it was asked (RFC 3339).", json_schema_extra={"format": "date-time"})
    ]


class Evidence(Model):
    """What a withdrawal's result rests on."""

    servers: Annotated[
        tuple[ServerEvidence, ...],
        Field(
            max_length=SERVER_LIMIT,
            description="What each server said, of the first ones when there are many.",
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ] = ()
    serial: Annotated[int | None, Field(ge=0, description="Serial of the zone that the servers had.")] = None


@dataclass(frozen=True, slots=True)
class ServerWord:
    """One server's word on a name: its RCODE, whether it gave the address, and with which TTL; `answered` when it spoke at all."""

    server: str
    rcode: str
    answered: bool
    gave: bool = False
    ttl_s: int | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """One look at all servers, for one withdrawal; without a server nothing is known.

    `began_s` and `ended_s` are of the clock with that name, which is never put.
    """

    words: Sequence[ServerWord]
    began: datetime
    ended: datetime
    serial: int | None = None
    began_s: float = 0.0
    ended_s: float = 0.0
    clock: str = ""

    @property
    def publishing(self) -> list[ServerWord]:
        return [word for word in self.words if word.gave]

    @property
    def silent(self) -> list[ServerWord]:
        return [word for word in self.words if not word.answered]


@dataclass(frozen=True, slots=True)
class _Notes:
    """What is kept from one look to the next: since when all of `servers` are clean, and the TTL that was seen last.

    `clean_since` is for people; `since_ms` is the same moment on the clock with that name. With `proven` the second look has been had.
    """

    clean_since: datetime | None = None
    since_ms: int = 0
    clock: str = ""
    servers: frozenset[str] = frozenset()
    ttl_s: int = 0
    proven: bool = False

    @property
    def wait_s(self) -> int:
        return min(max(self.ttl_s, SHORTEST_TTL_S), LONGEST_TTL_S)


Word = tuple[ConditionStatus, WithdrawalReason, str]


def observe(
    item: UnitWithdrawal,
    before: UnitWithdrawalStatus | None,
    zone_class: ClassBinding,
    sighting: Sighting | None,
    now: datetime,
) -> UnitWithdrawalStatus:
    """Return the result for one withdrawal; `before` is what stands in the ledger, `sighting` the newest look, None before the first.

    Given the same look again, it returns an equal result.
    """
    same = before is not None and _is_about(before, item, zone_class)
    notes = _read(before) if same and before is not None else _Notes()
    notes, withdrawn = _judge(item, notes, sighting)
    ready, override = _judge_release(item, withdrawn)
    wanted = [_condition(_C.WITHDRAWN, withdrawn, item), _condition(_C.READY, ready, item)]
    if override is not None:
        wanted.append(_condition(_C.OVERRIDE_ACCEPTED, override, item))
    kinds = {each.type for each in wanted}
    old = [each for each in before.conditions if each.type in kinds] if same and before is not None else []
    known = before.provider.data if same and before is not None and before.provider is not None else None
    return UnitWithdrawalStatus(
        claim_namespace=item.claim_namespace,
        claim_name=item.claim_name,
        claim_uid=item.claim_uid,
        claim_generation=item.claim_generation,
        zone_class=zone_class,
        waiver=item.waiver,
        conditions=merge_conditions(old, wanted, time_text(now)),
        provider=WithdrawalProviderData(data=_evidence(sighting, known), state=_written(notes)),
    )


def observe_all(
    items: Iterable[UnitWithdrawal],
    before: Iterable[UnitWithdrawalStatus],
    zone_class: ClassBinding | None,
    sightings: Mapping[str, Sighting],
    now: datetime,
) -> tuple[UnitWithdrawalStatus, ...]:
    """Return the results for all withdrawals of a ledger; `sightings` go by the UID of the claim.

    Without a class nothing can be told that would be bound to it.
    """
    if zone_class is None:
        return ()
    known = {each.key: each for each in before}
    return tuple(observe(item, known.get(item.key), zone_class, sightings.get(item.claim_uid), now) for item in items)


def _is_about(result: UnitWithdrawalStatus, item: UnitWithdrawal, zone_class: ClassBinding) -> bool:
    same_claim = (result.claim_uid, result.claim_generation) == (item.claim_uid, item.claim_generation)
    return same_claim and result.zone_class == zone_class


def _judge(item: UnitWithdrawal, notes: _Notes, sighting: Sighting | None) -> tuple[_Notes, Word]:
    """Return what is to be noted, and Withdrawn."""
    if not item.allowed:
        return _Notes(), (_U, _R.RECONCILING, "Nothing is observed, since the claim is not accepted.")
    if sighting is None:
        return notes, (_U, _R.RECONCILING, "The servers are being asked.")
    if publishing := sighting.publishing:
        ttl_s = max(word.ttl_s or 0 for word in publishing)
        message = f"{len(publishing)} of {len(sighting.words)} servers give {item.address} for {item.name}: {_named(publishing)}."
        return _Notes(ttl_s=ttl_s), (_F, _R.STILL_PUBLISHED, message)
    if not sighting.words:
        return notes, (_U, _R.DNS_PROBE_FAILED, "No server of the zone is known.")
    if silent := sighting.silent:
        return notes, (_U, _R.DNS_PROBE_FAILED, _told_of(silent, len(sighting.words)))
    return _judge_clean(notes, sighting)


def _judge_clean(notes: _Notes, sighting: Sighting) -> tuple[_Notes, Word]:
    servers = _noted(frozenset(word.server for word in sighting.words))
    same_servers = notes.clean_since is not None and servers <= notes.servers
    if not same_servers or (notes.clock != sighting.clock and not notes.proven):
        ended = max(sighting.began, sighting.ended)
        notes = _Notes(ended, ceil(sighting.ended_s * 1000), sighting.clock, servers, notes.ttl_s)
    count = len(sighting.words)
    if notes.proven or sighting.began_s * 1000 >= notes.since_ms + notes.wait_s * 1000:
        message = f"None of {count} servers gives the address, in two looks {notes.wait_s} s apart or more."
        return replace(notes, proven=True), (_T, _R.VERIFIED, message)
    assert notes.clean_since is not None, "noted above"
    after = time_text(notes.clean_since + timedelta(seconds=notes.wait_s))
    return notes, (
        _U,
        _R.RECONCILING,
        f"None of {count} servers gives the address; it is proven by a look after {after}.",
    )


def _noted(servers: frozenset[str]) -> frozenset[str]:
    """Return the servers as they are noted: a few by name, which may become fewer, many by a digest of them all."""
    if len(servers) <= NOTED_SERVERS:
        return servers
    return frozenset({f"sha256:{hashlib.sha256(' '.join(sorted(servers)).encode()).hexdigest()}"})


def _told_of(silent: Sequence[ServerWord], count: int) -> str:
    """Return the sentence about servers that gave no answer, and what those words mean that are no RCODEs."""
    words = ", ".join(f"{word.server} {word.rcode}" for word in silent[:NAMED_SERVERS])
    strange = {word.rcode for word in silent[:NAMED_SERVERS]} & _WORDS.keys()
    meaning = "; ".join(f"{each}: {_WORDS[each]}" for each in sorted(strange))
    sentence = f"{len(silent)} of {count} servers gave no answer: {words}."
    return f"{sentence} {meaning}." if meaning else sentence


def _judge_release(item: UnitWithdrawal, withdrawn: Word) -> tuple[Word, Word | None]:
    """Return Ready, and OverrideAccepted when there is a waiver."""
    status, reason, message = withdrawn
    ready: Word = (_F, _R.NOT_WITHDRAWN, message)
    if not item.allowed:
        ready = (_F, _R.NOT_ACCEPTED, "The claim is not accepted.")
    elif status is _T:
        ready = (_T, _R.WITHDRAWN, message)
    elif reason is _R.DNS_PROBE_FAILED:
        ready = (_F, _R.DNS_PROBE_FAILED, message)
    waiver = item.waiver
    if waiver is None or not item.allowed:
        return ready, None
    if waiver.namespace != item.claim_namespace:
        return ready, (
            _F,
            _R.WAIVER_MISMATCH,
            f"Waiver {waiver.namespace}/{waiver.name} is not in the claim's namespace.",
        )
    told = f"Released by RecordWithdrawalWaiver {waiver.namespace}/{waiver.name}."
    override: Word = (_T, _R.OPERATOR_AUTHORIZED_RELEASE, told)
    return (ready if status is _T else override), override


def _condition(kind: WithdrawalCondition, word: Word, item: UnitWithdrawal) -> Condition:
    status, reason, message = word
    return Condition(
        type=kind, status=status, observed_generation=item.claim_generation, reason=reason, message=message
    )


def _named(words: Sequence[ServerWord]) -> str:
    more = f" and {len(words) - NAMED_SERVERS} more" if len(words) > NAMED_SERVERS else ""
    return ", ".join(word.server for word in words[:NAMED_SERVERS]) + more


def _evidence(sighting: Sighting | None, known: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the evidence of a look; that of an earlier one which says the same stays, until it has become old."""
    if sighting is None:
        return known
    told = sorted(sighting.words, key=lambda word: (word.answered, word.server))[:SERVER_LIMIT]
    if known is not None and _is_fresh(known, told, sighting):
        return known
    at = time_text(sighting.ended)
    servers = tuple(ServerEvidence(server=word.server, rcode=word.rcode, observed_time=at) for word in told)
    return Evidence(servers=servers, serial=sighting.serial).dump()


def _is_fresh(known: dict[str, Any], told: Sequence[ServerWord], sighting: Sighting) -> bool:
    before = Evidence.model_validate(known)
    same = [(each.server, each.rcode) for each in before.servers] == [(word.server, word.rcode) for word in told]
    if not same or before.serial != sighting.serial:
        return False
    oldest = min((each.observed_time for each in before.servers), default=None)
    return oldest is None or (sighting.ended - datetime.fromisoformat(oldest)).total_seconds() < EVIDENCE_AGE_S


def _read(result: UnitWithdrawalStatus) -> _Notes:
    state = (result.provider.state if result.provider is not None else None) or {}
    since = state.get("cleanSince")
    return _Notes(
        datetime.fromisoformat(since) if isinstance(since, str) else None,
        int(state.get("cleanSinceMilliseconds") or 0),
        str(state.get("clock") or ""),
        frozenset(state.get("servers") or ()),
        int(state.get("ttlSeconds") or 0),
        state.get("proven") is True,
    )


def _written(notes: _Notes) -> dict[str, Any] | None:
    state: dict[str, Any] = {}
    if notes.clean_since is not None:
        state = {
            "cleanSince": micro_time_text(notes.clean_since),
            "cleanSinceMilliseconds": notes.since_ms,
            "clock": notes.clock,
            "servers": sorted(notes.servers),
        }
    if notes.proven:
        state["proven"] = True
    if notes.ttl_s:
        state["ttlSeconds"] = notes.ttl_s
    return state or None
