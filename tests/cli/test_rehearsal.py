"""Rehearsals by themselves: objects that cannot be read, and what a manifest makes of an object that others write too."""

from __future__ import annotations

import copy
from typing import Any

from cli.objects.document import Document, Fault
from cli.objects.submission import Settings
from cli.plan.rehearsal import Objects, Rehearsal, Taken
from controllers.api.group import NAMESPACES, PROVIDERS, RECORD_SETS, ZONES
from controllers.core.plan import FieldChange
from controllers.providers.hosted.contract import provider_manifest
from kube.object import ObjectKey
from tests.cli.manifest import record_set, zone

NOW = "2026-11-30T12:00:00Z"


def objects(*claims: dict[str, Any]) -> Objects:
    """What an API holds: the namespace `team`, the provider and some claims."""
    namespace = {"metadata": {"name": "team", "uid": "u", "resourceVersion": "1"}}
    found: Objects = {
        NAMESPACES: {ObjectKey("", "team"): namespace},
        PROVIDERS: {ObjectKey("", "hosted.dns.appthrust.io"): stored(provider_manifest())},
        ZONES: {},
        RECORD_SETS: {},
    }
    for claim in claims:
        ref = ZONES if claim["kind"] == "Zone" else RECORD_SETS
        found[ref][ObjectKey("team", claim["metadata"]["name"])] = stored(claim)
    return found


def stored(manifest: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    obj = copy.deepcopy(manifest)
    server = {"uid": "u", "resourceVersion": "1", "generation": 3, "creationTimestamp": "2026-11-01T00:00:00Z"}
    if obj["kind"] != "Provider":
        server["namespace"] = "team"
    obj["metadata"] |= {**server, **metadata}
    return obj


async def rehearse(held: Objects, *manifests: dict[str, Any], force: bool = False) -> tuple[Rehearsal, list[Any]]:
    rehearsal = Rehearsal(held, Settings("team", force=force), NOW)
    documents = [Document(f"document {number}", each) for number, each in enumerate(manifests, 1)]
    return rehearsal, await rehearsal.run(documents)


async def test_what_is_taken_is_in_the_world_after_and_not_in_the_one_before() -> None:
    rehearsal, (outcome,) = await rehearse(objects(), record_set("www"))

    key = ObjectKey("team", "www")
    assert isinstance(outcome, Taken)
    assert (outcome.created, outcome.key) == (True, key)
    assert key not in rehearsal.before.record_sets
    claim = rehearsal.after.record_sets[key]
    assert (claim.meta.generation, claim.meta.creation_timestamp) == (1, NOW)


async def test_generation_counts_changes_of_spec_only() -> None:
    held = objects(record_set("www"), record_set("api"))

    rehearsal, _ = await rehearse(held, record_set("www", ttl=300), record_set("api", labels={"a": "b"}), force=True)

    generations = {key.name: claim.meta.generation for key, claim in rehearsal.after.record_sets.items()}
    assert generations == {"www": 4, "api": 3}


async def test_an_object_that_stays_as_it_is_stays_the_same_one() -> None:
    rehearsal, (outcome,) = await rehearse(objects(record_set("www")), record_set("www"))

    assert isinstance(outcome, Taken)
    assert (outcome.created, outcome.changes) == (False, ())
    key = ObjectKey("team", "www")
    assert rehearsal.after.record_sets[key] is rehearsal.before.record_sets[key]


async def test_what_manifests_say_is_not_changed_by_reading_them() -> None:
    manifest, held = record_set("www", ttl=300), objects(record_set("www"))
    kept, kept_held = copy.deepcopy(manifest), copy.deepcopy(held)

    await rehearse(held, manifest, force=True)

    assert (manifest, held) == (kept, kept_held)


async def test_a_zone_that_comes_with_its_records_is_known_to_their_admission() -> None:
    long = ".".join(["a" * 60] * 4)

    _, (_, alone) = await rehearse(objects(), record_set("www"), record_set("long", owner=long))
    _, (*_, together) = await rehearse(objects(), zone("example.test"), record_set("long", owner=long))

    assert isinstance(alone, Taken)
    assert isinstance(together, Fault)
    assert "fits in the zone example.test" in together.messages[0]


async def test_an_object_that_cannot_be_read_is_told_and_left_out() -> None:
    broken = record_set("broken")
    broken["spec"]["type"] = "SOA"

    rehearsal, _ = await rehearse(objects(broken))

    ((ref, complaint),) = rehearsal.unreadable
    assert ref is RECORD_SETS
    assert complaint.startswith("RecordSet team/broken cannot be read: ")
    assert rehearsal.before.record_sets == {}


async def test_a_status_in_a_manifest_counts_for_nothing() -> None:
    manifest = {**record_set("www"), "status": {"conditions": []}}

    _, (outcome,) = await rehearse(objects(), manifest)

    assert isinstance(outcome, Taken)
    assert {change.field.partition(".")[0] for change in outcome.changes} == {"spec"}


async def test_faults_of_metadata_schema_and_admission_are_told_together() -> None:
    manifest = record_set("Bad_Name", ttl=0, labels={"a": "not a label!"})
    manifest["spec"]["a"] = {"addresses": [1]}

    _, (outcome,) = await rehearse(objects(), manifest)

    assert isinstance(outcome, Fault)
    fields = [message.partition(": ")[0] for message in outcome.messages]
    assert "spec.a.addresses[0]" in fields
    assert "spec.ttl" in fields
    assert len(fields) == len(set(fields))


async def test_a_change_is_told_by_its_fields() -> None:
    _, (outcome,) = await rehearse(objects(record_set("www")), record_set("www", ttl=300), force=True)

    assert isinstance(outcome, Taken)
    assert outcome.changes == (FieldChange("spec.ttl", 60, 300),)
