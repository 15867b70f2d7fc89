"""A memory of earlier decisions changes nothing: whatever happens, composing with it gives what composing afresh gives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.api.provider import Provider
from controllers.api.record_set import RecordSet
from controllers.api.zone_unit import ZoneUnit, ZoneUnitParser
from controllers.core.compose import compose
from controllers.core.inputs import ZoneInputs
from controllers.core.memory import ZoneMemory
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome, Unavailable
from controllers.core.providercontract.conversion.request import ConversionKey
from controllers.core.question import questions
from tests.controllers.core.build import TYPES, WEBHOOK, deleting, inputs, meta, record_set, schema, two_versions, zone
from tests.controllers.core.test_pairs import BODIES, FLATTENING
from tests.controllers.core.test_payload import RAW

MODE = schema(mode={"type": "string", "enum": ["raw", "plain"]})
GRANTS = [
    [],
    [
        {
            "namespaces": {"selector": {"matchLabels": {"dns": "yes"}}},
            "records": [{"name": {"pattern": ".*"}, "types": TYPES}],
        }
    ],
]
ANSWERS: list[Outcome | None] = [None, Converted({"options": {"raw": True}}), Failed("no"), Unavailable("later")]


def provider(number: int) -> Provider:
    """One of several states of the Provider; the number is its generation."""
    conversion = {"toStorage": {"webhook": WEBHOOK} if number % 2 else {"cel": "{'options': {'raw': true}}"}}
    rules = [{"rule": "!has(self.spec.ttl) || self.spec.ttl != 13"}] if number % 3 else []
    served = {"supportedTypes": TYPES, "schemas": {"options": MODE}, "conversion": conversion, "validationRules": rules}
    storage = {
        "recordSet": {"supportedTypes": TYPES, "schemas": {"options": RAW}},
        **(FLATTENING if number > 2 else {}),
    }
    return two_versions({"recordSet": served}, storage, generation=number)


@dataclass
class Scene:
    """A zone's claims and surroundings, each of which may change."""

    generation: int = 1
    grant: int = 1
    provider: int = 1
    labelled: bool = True
    answers: dict[str, Outcome | None] = field(default_factory=dict)
    built: dict[str, RecordSet] = field(default_factory=dict)

    def inputs(self, units: list[ZoneUnit]) -> ZoneInputs:
        given = inputs(
            *self.built.values(),
            zone=zone({"generation": self.generation}, allowedRecordSets=GRANTS[self.grant]),
            provider=provider(self.provider),
            units=units,
            labels={"app": {"dns": "yes"}} if self.labelled else {},
        )
        asked = questions(given, ZoneMemory()) or []
        known: dict[ConversionKey, Outcome] = {}
        for each in asked:
            answer = self.answers.get(each.key.subject.split("-")[1])
            if answer is not None:
                known[each.key] = answer
        return replace(given, answers=known)


Step = tuple[Any, ...]

INDEXES = st.integers(0, 4)
CLAIM = st.tuples(
    st.just("claim"),
    INDEXES,
    st.sampled_from(["A", "TXT", "CNAME", "NS"]),
    st.sampled_from(["x", "x", "y"]),
    st.sampled_from([60, 60, 60, 61, 13]),
    st.sampled_from([None, None, "raw", "raw", "odd"]),
)
steps = st.lists(
    st.one_of(
        CLAIM,
        CLAIM,
        CLAIM,
        st.tuples(st.sampled_from(["leave", "gone", "touch"]), INDEXES),
        st.tuples(st.just("grant"), st.integers(0, 1)),
        st.tuples(st.just("provider"), st.integers(1, 4)),
        st.tuples(st.just("label"), st.booleans()),
        st.tuples(st.just("answer"), INDEXES, st.sampled_from(ANSWERS)),
    ),
    min_size=5,
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_a_memory_changes_nothing(sequence: list[Step]) -> None:
    scene, memory, parser, units = Scene(), ZoneMemory(), ZoneUnitParser(), list[ZoneUnit]()
    for number, step in enumerate(sequence):
        take(scene, step, number)
        given = scene.inputs(units)
        for _ in range(2):
            remembering, afresh = compose(given, memory), compose(given)
            assert remembering.parts == afresh.parts
            assert remembering.zone_verdict == afresh.zone_verdict
            assert remembering.record_verdicts == afresh.record_verdicts
            assert remembering.hold == afresh.hold
        memory.keep_only({claim.key for claim in given.record_sets})
        if afresh.parts is not None:
            specs = afresh.parts.items()
            units = [
                parser({"metadata": meta("team", f"p{part}", generation=number), "spec": spec.dump(), "status": {}})
                for part, spec in specs
            ]


def take(scene: Scene, step: Step, number: int) -> None:
    match step:
        case ("claim", index, kind, owner, ttl, mode):
            name = f"r{index}"
            former = scene.built.get(name)
            generation = former.meta.generation + 1 if former is not None else 1
            if former is not None:
                kind, owner = former.spec.type.value, former.spec.name
            options = {"options": {"mode": mode}} if mode is not None else {}
            scene.built[name] = record_set(
                name,
                owner,
                namespace="app" if index % 2 else "team",
                metadata={"generation": generation, "uid": former.meta.uid if former else f"uid-{name}-{number}"},
                type=kind,
                ttl=ttl,
                **BODIES[kind],
                **options,
            )
        case ("leave", index):
            if (claim := scene.built.get(f"r{index}")) is not None:
                leaving = deleting()
                scene.built[f"r{index}"] = replace(
                    claim, meta=replace(claim.meta, deletion_timestamp=leaving["deletionTimestamp"])
                )
        case ("gone", index):
            scene.built.pop(f"r{index}", None)
        case ("touch", index):
            if (claim := scene.built.get(f"r{index}")) is not None:
                scene.built[f"r{index}"] = replace(claim, meta=replace(claim.meta, resource_version=str(number)))
        case ("grant", grant):
            scene.grant = grant
            scene.generation += 1
        case ("provider", state):
            scene.provider = state
        case ("label", labelled):
            scene.labelled = labelled
        case ("answer", index, answer):
            scene.answers[f"r{index}"] = answer
