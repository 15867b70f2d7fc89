"""What the live name servers serve of a zone, in numbers of its history.

Pure. Owns the meaning of "programmed": every live server, and at least as many as the class asks for, serves the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from controllers.api.condition import ConditionStatus
from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.providers.hosted.history import NEVER, History
from controllers.providers.hosted.hosted_object import Manifest
from zonemodel.hosted_zone import ServerState, ServerStatus

NAMED_SERVERS: Final = 5
PROGRAMMED: Final = Verdict(ConditionStatus.TRUE, Reason.PROGRAMMED)
ZONE_PROGRAMMED: Final = Verdict(ConditionStatus.TRUE, Reason.PROGRAMMED, "Every live name server serves the zone.")
PENDING: Final = refused(Reason.PROVIDER_CHANGE_PENDING, "Waiting for the live name servers to serve the change.")
UNAVAILABLE: Final = refused(Reason.PROVIDER_UNAVAILABLE, "No name server is live.")


@dataclass(frozen=True, slots=True)
class Rejection:
    """A server that refused the newest snapshot and still serves number `reached`."""

    server: str
    reached: int
    message: str


@dataclass(frozen=True, slots=True)
class ServiceLevel:
    """`reached` is the newest snapshot that all live servers have got to, NEVER when one serves none that is known."""

    live: int
    wanted: int
    reached: int
    behind: tuple[str, ...]
    rejections: tuple[Rejection, ...]

    def judge(self, since: int) -> Verdict:
        """Return the Programmed verdict of a record that is what it is since that snapshot."""
        if not self.live:
            return UNAVAILABLE
        if self.reached >= since and self.live >= self.wanted:
            return PROGRAMMED
        rejection = next((each for each in self.rejections if each.reached < since), None)
        if rejection is not None:
            return refused(
                Reason.PROVIDER_INVALID_REQUEST,
                f"Name server {rejection.server} refuses the snapshot: {rejection.message}",
            )
        return PENDING

    def has_withdrawn(self, since: int) -> bool:
        """Say whether no live server serves a record any more that is absent since that snapshot."""
        return self.live > 0 and self.reached >= since

    def judge_zone(self, number: int) -> Verdict:
        """Return the Programmed verdict of the zone, which is what it is since snapshot `number`."""
        verdict = self.judge(number)
        if verdict is PROGRAMMED:
            return ZONE_PROGRAMMED
        if verdict is not PENDING:
            return verdict
        if self.behind:
            more = f" and {len(self.behind) - NAMED_SERVERS} more" if len(self.behind) > NAMED_SERVERS else ""
            names = ", ".join(self.behind[:NAMED_SERVERS])
            return refused(Reason.PROVIDER_CHANGE_PENDING, f"Waiting for name server {names}{more}.")
        message = f"Live name servers: {self.live}, the ZoneClass asks for {self.wanted}."
        return refused(Reason.PROVIDER_CHANGE_PENDING, message)


def measure(live: Sequence[str], manifest: Manifest | None, history: History, wanted: int) -> ServiceLevel:
    """Return the service level by the reports on the manifest; reports of servers that are not live do not count."""
    reports = {report.name: report for report in manifest.servers} if manifest is not None else {}
    numbers = {name: _number(reports.get(name), history) for name in live}
    generation = manifest.meta.generation if manifest is not None else 0
    current = [report for name in live if (report := reports.get(name)) is not None]
    return ServiceLevel(
        live=len(live),
        wanted=wanted,
        reached=min(numbers.values(), default=NEVER),
        behind=tuple(name for name, number in numbers.items() if number < history.number),
        rejections=tuple(_rejections(current, generation, history)),
    )


def _number(report: ServerStatus | None, history: History) -> int:
    return history.number_of(report.digest, report.observed_generation) if report is not None else NEVER


def _rejections(reports: Iterable[ServerStatus], generation: int, history: History) -> Iterator[Rejection]:
    """A server's refusal of a snapshot that has been replaced says nothing of the new one."""
    for report in reports:
        if report.state is ServerState.REJECTED and report.observed_generation >= generation:
            yield Rejection(report.name, _number(report, history), report.message)
