"""What is to be done with a zone as a whole, before any record is looked at.

Pure. Owns the questions whether it can be served, and who has a domain that several claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_unit import ZoneUnit
from controllers.ledger.binding import Binding
from controllers.ledger.class_rule import judge_class
from controllers.ledger.standing import Stage, is_our_ledger, judge_class_of, stage_of
from controllers.providers.hosted.class_rule import judge_parameters
from controllers.providers.hosted.parameters import Head, head_of, servers_without_addresses
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


def judge_zone(view: ZoneView, binding: Binding) -> Standing:
    """Return the standing of a zone."""
    match stage_of(view, binding):
        case Stage.LEAVE:
            return Standing(Course.LEAVE)
        case Stage.WAIT:
            return Standing(Course.WAIT)
        case Stage.CLEAN_UP:
            return Standing(Course.CLEAN_UP)
    main = view.main
    assert main is not None, "a ledger without it is not maintained"
    return _judge_living(view, main, binding)


def _judge_living(view: ZoneView, main: ZoneUnit, binding: Binding) -> Standing:
    judgement = judge_class_of(view, main, binding, judge_parameters)
    accepted, parameters = judgement.verdict, judgement.parameters
    winner = _older_rival(view, main, binding)
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


def _frozen(view: ZoneView, accepted: Verdict, programmed: Verdict) -> Standing:
    """Deletions are published with the head that the zone has."""
    return Standing(Course.FREEZE, accepted, programmed, _published_head(view))


def _published_head(view: ZoneView) -> Head | None:
    spec = view.manifest.spec if view.manifest is not None else None
    if spec is None or spec.domain_name is None or spec.soa is None:
        return None
    return Head(Fqdn(spec.domain_name), spec.soa, spec.name_servers, spec.transfer or Transfer())


def _older_rival(view: ZoneView, main: ZoneUnit, binding: Binding) -> ObjectKey | None:
    """Return the Zone that has the domain, when it is another one: the oldest of those that are or can be published."""
    own = _age(main, published=view.manifest is not None)
    older = [age for age in _rival_ages(view, binding) if age < own]
    return min(older)[-1] if older else None


def _rival_ages(view: ZoneView, binding: Binding) -> Iterator[Age]:
    for rival in view.rivals:
        unit, zone_class = rival.unit, rival.zone_class
        if not is_our_ledger(unit, zone_class, binding):
            continue
        can_be = (
            zone_class is not None
            and not unit.deleting
            and judge_class(rival.stored_class or zone_class, view.provider, binding, judge_parameters).verdict.accepted
        )
        if rival.published or can_be:
            yield _age(unit, published=rival.published)


def _age(unit: ZoneUnit, *, published: bool) -> Age:
    """Timestamps are whole seconds: of two ledgers of one second the published one counts as older."""
    return unit.meta.creation_timestamp, not published, unit.spec.zone.ref.key
