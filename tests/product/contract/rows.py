"""What leads to which condition: the reasons that core, or the hosted provider, gives by itself.

A step is a write to the API, or waiting for what the API shows.
"""

from __future__ import annotations

from dataclasses import replace

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from tests.product.claim import CONTROLLER, ZONE, ZONE_CLASS, claim, zone, zone_class
from tests.product.contract.ledger import item, ledger
from tests.product.contract.other_provider import (
    IDENTITY,
    NOBODY,
    OtherProvider,
    payload,
    texts_of_one_version,
    version,
)
from tests.product.contract.row import WWW, row
from tests.product.stage import Object, Stage

RIVAL = claim("www", "A", "192.0.2.2")
TOO_LONG = replace(WWW, owner=".".join(["x" * 60] * 4))
NEVER = [{"rule": "self.metadata.name == ''", "message": "No."}]


async def published(stage: Stage) -> None:
    await stage.set_up(WWW)


async def no_class(stage: Stage) -> None:
    await stage.apply(zone(stage.domain))
    await stage.apply(WWW.manifest())


async def no_zone(stage: Stage) -> None:
    await stage.apply(WWW.manifest())


async def name_does_not_fit(stage: Stage) -> None:
    """The claim comes before its Zone, so that admission cannot know."""
    await stage.apply(TOO_LONG.manifest(name=WWW.name))
    await stage.set_up()


async def class_lost(stage: Stage) -> None:
    await published(stage)
    await stage.delete(ZONE_CLASSES, ZONE_CLASS)


async def class_of_a_stranger(stage: Stage) -> None:
    """A class of the hosted controller with another Provider."""
    other = OtherProvider(stage)
    await other.install()
    await other.apply_class(controllerName=CONTROLLER)


async def class_with_a_server_twice(stage: Stage) -> None:
    servers = [{"name": "ns1.example.net"}] * 2
    await stage.apply(zone_class(nameServers=servers))


async def class_of_another_namespace(stage: Stage) -> None:
    beside = replace(stage, namespace=f"{stage.namespace}-beside")
    await _create_namespace(beside)
    await beside.apply(zone_class())
    manifest = zone(stage.domain)
    manifest["spec"]["zoneClassRef"]["namespace"] = beside.namespace
    await stage.apply(manifest)
    await stage.apply(WWW.manifest())


async def refused_class(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.install()
    await other.apply_class()
    await other.judge_class("False", "DeniedByPolicy")
    await other.apply_zone()
    await other.apply_record_set(WWW)


async def undecided_class(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.install()
    await other.apply_class()
    await other.judge_class("Unknown", "IdentityNotResolved")
    await other.apply_zone()
    await other.apply_record_set(WWW)


async def zone_of_another_provider(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.install()
    await stage.apply(zone_class())
    await other.apply_zone()


async def record_set_of_another_provider(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.install()
    await stage.set_up()
    await other.apply_record_set(WWW)


async def identity_comes_to_be_needed(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.set_up()
    await other.install(version(identity=IDENTITY))


async def provider_goes(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.set_up()
    await other.uninstall()


async def type_is_given_up(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.set_up(WWW)
    await other.install(version(recordSet={"supportedTypes": ["TXT"]}))


async def zones_get_a_rule(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.set_up()
    await other.install(version(zone={"validationRules": NEVER}))


async def record_sets_get_a_rule(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.set_up(WWW)
    await other.install(version(recordSet={"supportedTypes": ["A"], "validationRules": NEVER}))


async def zone_cannot_be_converted(stage: Stage) -> None:
    await _adopt_a_zone(stage, {"cel": "{'adoption': {'mode': self.adoption.mode}}"})


async def zone_is_not_converted_now(stage: Stage) -> None:
    await _adopt_a_zone(stage, {"webhook": NOBODY})


async def record_set_cannot_be_converted(stage: Stage) -> None:
    await _set_options(stage, {"cel": "{'options': {'mode': self.options.mode}}"})


async def record_set_is_not_converted_now(stage: Stage) -> None:
    await _set_options(stage, {"webhook": NOBODY})


async def ledger_of_another_domain(stage: Stage) -> None:
    await _create_ledger(stage, ledger(stage.namespace, domain="elsewhere.test"))
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))


async def ledger_with_a_part_lost(stage: Stage) -> None:
    await _create_ledger(stage, ledger(stage.namespace, domain=stage.domain, parts=[1]))
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))


async def owner_has_not_come_back(stage: Stage) -> None:
    await _create_ledger(stage, ledger(stage.namespace, item(stage.namespace, "lost"), domain=stage.domain))
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))
    await stage.until_programmed(ZONES, ZONE)
    await stage.apply(WWW.manifest())


async def provider_says_nothing(stage: Stage) -> None:
    await OtherProvider(stage).set_up(WWW)


async def record_set_comes_back_shut_out(stage: Stage) -> None:
    """A ledger was applied that holds a record which nothing is served of, and whose claim the Zone lets in no longer."""
    beside = replace(stage, namespace=f"{stage.namespace}-beside")
    await _create_namespace(beside)
    manifest = WWW.manifest()
    manifest["spec"]["zoneRef"]["namespace"] = beside.namespace
    await stage.apply(manifest)
    await _create_ledger(
        beside, ledger(beside.namespace, {**item(stage.namespace, WWW.name), "allowed": False}, domain=stage.domain)
    )
    await beside.apply(zone_class())
    await beside.apply(zone(stage.domain))


async def namespace_is_shut_out(stage: Stage) -> None:
    beside = replace(stage, namespace=f"{stage.namespace}-beside")
    await _create_namespace(beside)
    await beside.apply(zone_class())
    grant = {
        "namespaces": {"selector": {"matchLabels": {"kubernetes.io/metadata.name": stage.namespace}}},
        "records": [{"name": {"pattern": ".*"}, "types": ["A"]}],
    }
    open_zone = zone(stage.domain)
    open_zone["spec"]["allowedRecordSets"] = [grant]
    await beside.apply(open_zone)
    manifest = WWW.manifest()
    manifest["spec"]["zoneRef"]["namespace"] = beside.namespace
    await stage.apply(manifest)
    await stage.until_programmed(RECORD_SETS, WWW.name)
    await beside.apply(zone(stage.domain))


async def ledger_has_no_room(stage: Stage) -> None:
    other = OtherProvider(stage)
    await other.install(
        version(recordSet={"supportedTypes": ["TXT"], "schemas": {"options": payload(blob={"type": "string"})}})
    )
    await other.apply_class()
    await other.judge_class()
    await other.apply_zone()
    for owner, size in (("www", 1), ("second", 600_000)):
        await other.apply_record_set(claim(owner, "TXT", "text"), options={"blob": "x" * size})
    await stage.until_there(ZONE_UNITS, ZONE, lambda unit: len(unit["spec"].get("recordSets", ())) == 2)
    await other.apply_record_set(claim("www", "TXT", "text"), options={"blob": "x" * 1_000_000})


async def rival_comes(stage: Stage) -> None:
    await stage.set_up(WWW)
    await stage.apply(RIVAL.manifest(name="rival"))


async def domain_is_taken(stage: Stage) -> None:
    await stage.set_up()
    await stage.apply(zone(stage.domain, name="second"))
    await stage.apply(WWW.manifest(zone="second"))


async def server_is_homeless(stage: Stage) -> None:
    await stage.apply(zone_class(nameServers=[{"name": f"ns1.{stage.domain}"}]))
    await stage.apply(zone(stage.domain))
    await stage.apply(WWW.manifest())


async def servers_are_too_few(stage: Stage) -> None:
    await stage.apply(zone_class(minReadyServers=2))
    await stage.apply(zone(stage.domain))
    await stage.apply(WWW.manifest())


async def zone_waits_for_its_records(stage: Stage) -> None:
    await stage.set_up(WWW)
    await stage.delete(ZONES, ZONE)
    await stage.apply(claim("late", "A", "192.0.2.7").manifest())


ROWS = [
    row(
        published,
        "ZoneClass Accepted=True Accepted",
        "Zone Accepted=True Accepted",
        "Zone Programmed=True Programmed",
        "RecordSet Accepted=True Accepted",
        "RecordSet Programmed=True Programmed",
    ),
    row(no_class, "Zone Accepted=Unknown ZoneClassNotResolved", "RecordSet Accepted=Unknown ZoneClassNotResolved"),
    row(no_zone, "RecordSet Accepted=Unknown ZoneNotResolved"),
    row(name_does_not_fit, "RecordSet Accepted=False InvalidZoneRef"),
    row(class_lost, "Zone Accepted=Unknown ZoneClassNotResolved", "Zone Programmed=Unknown Reconciling"),
    row(class_of_a_stranger, "ZoneClass Accepted=False InvalidProvider"),
    row(class_with_a_server_twice, "ZoneClass Accepted=False InvalidParameters"),
    row(
        class_of_another_namespace,
        "Zone Accepted=False NotAllowedByZoneClass",
        "RecordSet Accepted=False ZoneNotAccepted",
    ),
    row(refused_class, "Zone Accepted=False ZoneClassNotAccepted", "RecordSet Accepted=False ZoneNotAccepted"),
    row(undecided_class, "Zone Accepted=Unknown IdentityNotResolved", "RecordSet Accepted=Unknown IdentityNotResolved"),
    row(zone_of_another_provider, "Zone Accepted=False ProviderMismatch"),
    row(record_set_of_another_provider, "RecordSet Accepted=False ProviderMismatch"),
    row(identity_comes_to_be_needed, "Zone Accepted=False InvalidIdentityRef"),
    row(provider_goes, "Zone Accepted=False InvalidProvider"),
    row(type_is_given_up, "RecordSet Accepted=False InvalidProvider"),
    row(zones_get_a_rule, "Zone Accepted=False InvalidProviderPayload"),
    row(record_sets_get_a_rule, "RecordSet Accepted=False InvalidProviderPayload"),
    row(zone_cannot_be_converted, "Zone Accepted=False ProviderConversionFailed"),
    row(
        zone_is_not_converted_now,
        "Zone Accepted=Unknown ProviderConversionUnavailable",
        "RecordSet Accepted=Unknown ProviderConversionUnavailable",
    ),
    row(record_set_cannot_be_converted, "RecordSet Accepted=False ProviderConversionFailed"),
    row(record_set_is_not_converted_now, "RecordSet Accepted=Unknown ProviderConversionUnavailable"),
    row(ledger_of_another_domain, "Zone Accepted=False ManagedResourceMismatch"),
    row(ledger_with_a_part_lost, "Zone Accepted=Unknown OwnerStateNotResolved"),
    row(owner_has_not_come_back, "RecordSet Accepted=Unknown OwnerStateNotResolved"),
    row(
        provider_says_nothing,
        "Zone Accepted=Unknown Reconciling",
        "Zone Programmed=Unknown Reconciling",
        "RecordSet Accepted=Unknown Reconciling",
        "RecordSet Programmed=Unknown Reconciling",
    ),
    row(
        namespace_is_shut_out,
        "RecordSet Accepted=False NotAllowedByZone",
        "RecordSet Programmed=True Programmed",
    ),
    row(
        record_set_comes_back_shut_out,
        "RecordSet Accepted=False NotAllowedByZone",
        "RecordSet Programmed=False ProviderChangeDeferred",
    ),
    row(ledger_has_no_room, "RecordSet Accepted=Unknown ReconcileError", RecordSet="www-txt"),
    row(rival_comes, "RecordSet Accepted=False RecordSetConflict", RecordSet="rival"),
    row(
        domain_is_taken,
        "Zone Programmed=False ProviderConflict",
        "RecordSet Programmed=False ProviderConflict",
        Zone="second",
    ),
    row(
        server_is_homeless,
        "Zone Programmed=False ProviderInvalidRequest",
        "RecordSet Programmed=False ProviderInvalidRequest",
    ),
    row(
        servers_are_too_few,
        "Zone Programmed=False ProviderChangePending",
        "RecordSet Programmed=False ProviderChangePending",
    ),
    row(zone_waits_for_its_records, "Zone Programmed=False ProviderChangePending"),
    row(zone_waits_for_its_records, "RecordSet Accepted=False ZoneNotAccepted", RecordSet="late-a"),
]


async def _create_namespace(stage: Stage) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": stage.namespace}}
    await stage.client.create(NAMESPACES, namespace)


async def _create_ledger(stage: Stage, unit: Object) -> None:
    await stage.client.create(ZONE_UNITS, {**unit, "metadata": {"name": ZONE, "namespace": stage.namespace}})


async def _adopt_a_zone(stage: Stage, to_storage: Object) -> None:
    other = OtherProvider(stage)
    await other.install(*texts_of_one_version("zone", "adoption", to_storage))
    await other.apply_class()
    await other.judge_class()
    await other.apply_zone(adoption={"mode": "a"})
    await other.apply_record_set(WWW)


async def _set_options(stage: Stage, to_storage: Object) -> None:
    other = OtherProvider(stage)
    await other.install(*texts_of_one_version("recordSet", "options", to_storage))
    await other.apply_class()
    await other.judge_class()
    await other.apply_zone()
    await other.apply_record_set(WWW, options={"mode": "a"})
