"""What the composer writes of finalizers: each once, whatever the caches still show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from controllers.api.condition import ConditionStatus
from controllers.api.group import CORE_FINALIZER, PROVIDER_FINALIZER, RECONCILE_REQUEST
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.core.apply import LedgerWriter
from controllers.core.compose import Composition, compose, fallen_short, without_unheld
from controllers.core.expectation import Expectations
from controllers.core.ledger import Ledger
from kube.access import Access
from kube.client import Client, Propagation
from kube.errors import Cause, Conflict, Forbidden, Invalid, TooLarge
from kube.resource import ResourceRef
from tests.controllers.core.build import deleting, inputs, record_set, unit, zone

NOTHING_HELD = Composition(Ledger({}, {}, {}, frozenset()), None, {}, hold_zone=True)


class Recorder(Client):
    """A client that writes nothing and remembers what it was asked to; `failure` is what the next write ends with."""

    def __init__(self) -> None:
        super().__init__(Access("http://127.0.0.1:1"))
        self.asked: list[str] = []
        self.failure: Exception | None = None

    async def patch_merge(
        self,
        ref: ResourceRef,
        patch: Mapping[str, Any],
        *,
        name: str,
        namespace: str = "",
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: str | None = None,
        subresource: str | None = None,
    ) -> dict[str, Any]:
        self.asked.append(name)
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        return {}

    async def patch_json(
        self,
        ref: ResourceRef,
        ops: Sequence[Mapping[str, Any]],
        *,
        name: str,
        namespace: str = "",
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: str | None = None,
        subresource: str | None = None,
    ) -> dict[str, Any]:
        self.asked.append(f"change {name}")
        return {}

    async def create(
        self,
        ref: ResourceRef,
        obj: Mapping[str, Any],
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: str | None = None,
    ) -> dict[str, Any]:
        """Refuse what holds an item of the claim "bad", as admission does."""
        names = [item["recordSetName"] for item in obj["spec"].get("recordSets", ())]
        self.asked.append(f"create {obj['metadata']['name']} {','.join(names)}".strip())
        if "bad" in names:
            cause = Cause(f"spec.recordSets[{names.index('bad')}].ttl", "FieldValueInvalid", "no")
            raise Invalid("no", code=422, reason="Invalid", causes=(cause,))
        return {}

    async def delete(
        self,
        ref: ResourceRef,
        *,
        name: str,
        namespace: str = "",
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: Propagation | str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        self.asked.append(f"delete {name}")
        return {}


async def test_a_part_is_emptied_before_it_is_deleted() -> None:
    """Items that moved out of it must never stand in two parts, and admission lets only a part go that holds nothing."""
    composed = compose(inputs(record_set("www")))
    assert composed.parts is not None
    main, further = composed.parts[0], composed.parts[0].model_copy(update={"part": 1})
    held = {"finalizers": [CORE_FINALIZER]}
    for spec, asked in ((further, "change"), (further.model_copy(update={"record_sets": ()}), "delete")):
        client = Recorder()
        parts = [unit(main, metadata=held), unit(spec, metadata=held)]
        await LedgerWriter(client, Expectations()).write_ledger(inputs(units=parts), composed)
        assert client.asked == [f"{asked} example.part-1"]


async def test_a_claim_that_the_ledger_cannot_take_keeps_no_zone_from_having_one() -> None:
    client = Recorder()
    large = record_set("large", type="TXT", txt={"values": ["x" * 3000]})
    composed = compose(inputs(record_set("bad", "bad"), large))
    shortfalls = await LedgerWriter(client, Expectations()).write_ledger(inputs(), composed)
    assert client.asked == ["create example bad,large", "create example large"]
    told = fallen_short(composed, shortfalls).record_verdicts
    assert {key.name: each.reason for key, each in told.items()} == {
        "bad": Reason.RECONCILE_ERROR,
        "large": Reason.ACCEPTED,
    }


@pytest.mark.parametrize(("part", "made"), [(0, ["create example"]), (1, [])])
async def test_of_parts_only_the_first_is_made_empty(part: int, made: list[str]) -> None:
    client, composed = Recorder(), compose(inputs(record_set("bad", "bad")))
    assert composed.parts is not None
    spec = composed.parts[0].model_copy(update={"part": part})
    shortfalls = await LedgerWriter(client, Expectations()).write_ledger(
        inputs(), replace(composed, parts={part: spec})
    )
    assert client.asked[1:] == made
    assert (shortfalls[part].stands is None) is bool(part)


@pytest.mark.parametrize(
    "error", [Forbidden("no", code=403, reason="Forbidden"), Invalid("no", code=422, reason="Invalid")]
)
async def test_a_claim_that_may_not_be_held_holds_up_no_other_and_is_told(error: Exception) -> None:
    client, claims = Recorder(), [record_set("refused"), record_set("held", "held")]
    composed = compose(inputs(*claims))
    client.failure = error
    zone_is_held = inputs(*claims, zone=zone({"finalizers": [CORE_FINALIZER]}))
    unheld = await LedgerWriter(client, Expectations()).hold_claims(zone_is_held, composed)
    assert unheld == {claims[0].key: "no"}
    left = without_unheld(composed, unheld)
    assert left.parts is not None
    assert [item.key for item in left.parts[0].record_sets] == [claims[1].key]
    told = left.record_verdicts[claims[0].key]
    assert (told.status, told.reason) == (ConditionStatus.UNKNOWN, Reason.RECONCILE_ERROR)
    assert told.message == "The finalizer that holds it cannot be put on: no"
    assert left.record_verdicts[claims[1].key].accepted


async def test_a_reconcile_request_that_does_not_fit_into_the_ledger_stops_nothing() -> None:
    client, composed = Recorder(), compose(inputs(record_set("www")))
    assert composed.parts is not None
    asking = zone({"finalizers": [CORE_FINALIZER], "annotations": {RECONCILE_REQUEST: "x" * 200_000}})
    part = unit(composed.parts[0], metadata={"finalizers": [CORE_FINALIZER]})
    client.failure = TooLarge("no", code=413, reason="RequestEntityTooLarge")
    written = await LedgerWriter(client, Expectations()).write_ledger(inputs(zone=asking, units=[part]), NOTHING_HELD)
    assert written == {}
    assert client.asked == ["example"]


async def test_a_claim_with_records_in_the_ledger_is_not_let_go() -> None:
    client, claim = Recorder(), leaving("7")
    held = Composition(NOTHING_HELD.ledger, None, {}, hold_zone=True, hold=frozenset({claim.key}))
    await LedgerWriter(client, Expectations()).release_claims(inputs(claim), held)
    assert client.asked == []


@pytest.mark.parametrize(("providers", "asked"), [([PROVIDER_FINALIZER], []), ([], ["example"])])
async def test_a_part_is_let_go_after_its_provider_has_let_it_go(providers: list[str], asked: list[str]) -> None:
    client, composed = Recorder(), compose(inputs(record_set("www")))
    assert composed.parts is not None
    part = unit(composed.parts[0], metadata=deleting(finalizers=[CORE_FINALIZER, *providers]))
    await LedgerWriter(client, Expectations()).write_ledger(inputs(units=[part]), NOTHING_HELD)
    assert client.asked == asked


def leaving(version: str) -> RecordSet:
    return record_set("www", metadata={**deleting(), "finalizers": [CORE_FINALIZER], "resourceVersion": version})


async def test_a_claim_that_was_let_go_is_not_written_again_while_the_caches_lag() -> None:
    client = Recorder()
    writer = LedgerWriter(client, Expectations())
    for version in ("7", "7", "8"):
        await writer.release_claims(inputs(leaving(version)), NOTHING_HELD)
    assert len(client.asked) == 2
    await writer.release_claims(inputs(), NOTHING_HELD)
    await writer.release_claims(inputs(leaving("8")), NOTHING_HELD)
    assert len(client.asked) == 3, "what has gone is forgotten"


async def test_a_claim_that_could_not_be_let_go_is_tried_again() -> None:
    client = Recorder()
    writer = LedgerWriter(client, Expectations())
    client.failure = Conflict("modified", code=409, reason="Conflict")
    assert await writer.release_claims(inputs(leaving("7")), NOTHING_HELD) == {leaving("7").key: ""}
    assert await writer.release_claims(inputs(leaving("7")), NOTHING_HELD) == {}
    assert len(client.asked) == 2
