"""What is to be done with a zone as a whole, before any record is looked at.

Pure. Owns the questions whose zone it is, whether it can be served, and who has a domain that several claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.conversion.zone_class import PENDING
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.class_rule import is_ours, judge_class
from controllers.providers.hosted.parameters import Head, Parameters, head_of, servers_without_addresses
from controllers.providers.hosted.view import ZoneView
from kube.object import ObjectKey
from zonemodel.hosted_zone import Transfer
from zonemodel.name import Fqdn


class Course(Enum):
    """What is to be done."""

    LEAVE = auto()  # it is not ours
    WAIT = auto()  # parts of the ledger, or the parameters of its class, are not there yet, so its content is not known
    CLEAN_UP = auto()  # it is being deleted
    YIELD = auto()  # another zone has the domain: publish nothing
    FREEZE = auto()  # it stays as it was last published; only deletions go on
    SERVE = auto()


@dataclass(frozen=True, slots=True)
class Standing:
    """The course, what the Zone is told, and the head of the snapshot (None: there is nothing to publish).

    `programmed` is set where the zone itself is what keeps it from being programmed, whatever the servers report.
    """

    course: Course
    accepted: Verdict = ACCEPTED
    programmed: Verdict | None = None
    head: Head | None = None
    min_ready_servers: int = 1


Age = tuple[str, bool, ObjectKey]

FROZEN: Final = "The zone stays served as it last was"


def judge_zone(view: ZoneView, config: HostedConfig) -> Standing:
    """Return the standing of a zone."""
    if not view.parts or not _is_our_zone(view, config):
        return Standing(Course.LEAVE)
    main = view.main
    if main is None:
        # Without part 0 nothing is known of the zone, unless what is left of it is going away.
        leaving = all(part.deleting for part in view.parts)
        return Standing(Course.CLEAN_UP if leaving else Course.WAIT)
    if main.deleting:
        return Standing(Course.CLEAN_UP)
    if set(main.spec.parts) - {part.spec.part for part in view.parts} or view.stored_class is PENDING:
        return Standing(Course.WAIT)
    return _judge_living(view, main, config)


def _judge_living(view: ZoneView, main: ZoneUnit, config: HostedConfig) -> Standing:
    accepted, parameters = _judge_class_of(view, main, config)
    winner = _older_rival(view, main, config)
    if winner is not None:
        domain = main.spec.zone.domain_name
        conflict = refused(
            Reason.PROVIDER_CONFLICT,
            f"Zone {winner} was there first with {domain}; a domain is served for one Zone only.",
        )
        return Standing(Course.YIELD, accepted, conflict)
    if parameters is None:
        return _frozen(view, accepted, waiting(Reason.RECONCILING, f"{FROZEN} until its ZoneClass can be followed."))
    domain = Fqdn(main.spec.zone.domain_name)
    homeless = [f"nameServers[{index}] {name}" for index, name in servers_without_addresses(parameters, domain)]
    if homeless:
        message = (
            f"ZoneClass {main.spec.zone.zone_class_ref.key} gives no addresses to {', '.join(homeless)}, "
            f"which cannot be found without them since it lies inside {domain}. {FROZEN}."
        )
        return _frozen(view, ACCEPTED, refused(Reason.PROVIDER_INVALID_REQUEST, message))
    head = head_of(parameters, domain)
    return Standing(Course.SERVE, ACCEPTED, None, head, parameters.min_ready_servers)


def _is_our_zone(view: ZoneView, config: HostedConfig) -> bool:
    return _is_ours(view.parts[0], view.zone_class, config)


def _is_ours(unit: ZoneUnit, zone_class: ZoneClass | None, config: HostedConfig) -> bool:
    """A ledger is ours by its class; without one the provider that the ledger is written for has to do."""
    if zone_class is None:
        return unit.spec.provider.name == config.provider_name
    return is_ours(zone_class, config)


def _judge_class_of(view: ZoneView, main: ZoneUnit, config: HostedConfig) -> tuple[Verdict, Parameters | None]:
    name, zone_class = main.spec.zone.zone_class_ref.key, view.zone_class
    if zone_class is None:
        return waiting(Reason.ZONE_CLASS_NOT_RESOLVED, f"ZoneClass {name} does not exist."), None
    ref = main.spec.provider
    if (ref.name, ref.version) != (config.provider_name, config.provider_version):
        message = f"The ledger is written for {ref.name}/{ref.version}, {config.controller_name} runs "
        return refused(Reason.INVALID_PROVIDER, f"{message}{config.provider_name}/{config.provider_version}."), None
    judgement = judge_class(view.stored_class or zone_class, view.provider, config)
    verdict = judgement.verdict
    if judgement.parameters is not None or verdict.reason in {
        Reason.INVALID_PROVIDER,
        Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED,
    }:
        return verdict, judgement.parameters
    return refused(Reason.ZONE_CLASS_NOT_ACCEPTED, f"ZoneClass {name} is not accepted: {verdict.reason}."), None


def _frozen(view: ZoneView, accepted: Verdict, programmed: Verdict) -> Standing:
    """Deletions are published with the head that the zone has."""
    return Standing(Course.FREEZE, accepted, programmed, _published_head(view))


def _published_head(view: ZoneView) -> Head | None:
    spec = view.manifest.spec if view.manifest is not None else None
    if spec is None or spec.domain_name is None or spec.soa is None:
        return None
    return Head(Fqdn(spec.domain_name), spec.soa, spec.name_servers, spec.transfer or Transfer())


def _older_rival(view: ZoneView, main: ZoneUnit, config: HostedConfig) -> ObjectKey | None:
    """Return the Zone that has the domain, when it is another one: the oldest of those that are or can be published."""
    own = _age(main, published=view.manifest is not None)
    older = [age for age in _rival_ages(view, config) if age < own]
    return min(older)[-1] if older else None


def _rival_ages(view: ZoneView, config: HostedConfig) -> Iterator[Age]:
    for rival in view.rivals:
        unit, zone_class = rival.unit, rival.zone_class
        if not _is_ours(unit, zone_class, config):
            continue
        can_be = (
            zone_class is not None
            and not unit.deleting
            and judge_class(rival.stored_class or zone_class, view.provider, config).verdict.accepted
        )
        if rival.published or can_be:
            yield _age(unit, published=rival.published)


def _age(unit: ZoneUnit, *, published: bool) -> Age:
    """Timestamps are whole seconds: of two ledgers of one second the published one counts as older."""
    return unit.meta.creation_timestamp, not published, unit.spec.zone.ref.key
