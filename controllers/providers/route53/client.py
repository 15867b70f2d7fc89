"""Route 53 as the controllers ask it: whole answers, our own values and errors, one account's pace.

Owns pagination, the hand-over to worker threads and the spacing of requests. Never retries, and never gives a part of a listing: a page
that fails is a Failure, and what the zone holds is then not known.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import itertools
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from controllers.providers.route53.change import Change
from controllers.providers.route53.failure import AccessDenied, BatchRejected, Fault, Malformed, NotThere, Unavailable
from controllers.providers.route53.name import read_name
from controllers.providers.route53.record import Observed, Record, RecordKey, bare_id, read_record
from controllers.providers.route53.session import Chain, Sessions, told_in_our_words
from controllers.providers.route53.throttle import Throttle
from controllers.runtime.metrics import provider_call
from kube.leadership import assert_leading

if TYPE_CHECKING:
    from mypy_boto3_route53.type_defs import HostedZoneTypeDef

PAGE_LIMIT: Final = "300"
NAMES_LIMIT: Final = "100"
TAGS_IN_A_CALL: Final = 10
UNREADABLE: Final = "Route 53 gave an answer that cannot be read; it is asked again."

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HostedZone:
    """A hosted zone; `name_servers` are empty for a private one, and where the answer does not tell them."""

    id: str
    name: str
    private: bool
    caller_reference: str
    name_servers: tuple[str, ...] = ()


def _readable(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Have an answer without what it should hold count as none: whatever was asked may have been done."""

    @functools.wraps(method)
    async def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await method(*args, **kwargs)
        except (KeyError, TypeError, ValueError):
            raise Unavailable(UNREADABLE, outcome_unknown=True) from None

    return reading


class Account:
    """Route 53 through the eyes of one identity. Everything raises Failure."""

    def __init__(self, chain: Chain, sessions: Sessions, throttle: Throttle, threads: Executor) -> None:
        self._chain = chain
        self._sessions = sessions
        self._throttle = throttle
        self._threads = threads

    @property
    def id(self) -> str:
        """The AWS account."""
        return self._chain.spec.account_id

    @_readable
    async def zones_named(self, domain: str) -> list[HostedZone]:
        """Return all hosted zones of that very name, public and private ones."""
        found: list[HostedZone] = []
        cursor: dict[str, str] = {"DNSName": f"{domain}."}
        progress = _Progress("hosted zones")
        while True:
            progress.note(cursor)
            answer = await self._ask("list_hosted_zones_by_name", MaxItems=NAMES_LIMIT, **cursor)
            zones = [_read_zone(each) for each in answer["HostedZones"]]
            found += [zone for zone in zones if zone.name == domain]
            # The name that the next page begins with is there exactly when there is one.
            following = answer.get("NextDNSName")
            if following is None or read_name(following) != domain:
                return found
            cursor = {"DNSName": following, "HostedZoneId": answer["NextHostedZoneId"]}

    @_readable
    async def zone(self, zone_id: str) -> HostedZone:
        """Return a hosted zone with its name servers."""
        answer = await self._ask("get_hosted_zone", Id=zone_id)
        return _read_zone(answer["HostedZone"], answer.get("DelegationSet", {}).get("NameServers", ()))

    @_readable
    async def create_zone(self, domain: str, reference: str, comment: str) -> tuple[HostedZone, str]:
        """Create a public hosted zone; returns it and the ID of the change. Raises ReferenceUsed."""
        answer = await self._ask(
            "create_hosted_zone",
            Name=f"{domain}.",
            CallerReference=reference,
            HostedZoneConfig={"Comment": comment, "PrivateZone": False},
        )
        zone = _read_zone(answer["HostedZone"], answer["DelegationSet"]["NameServers"])
        return zone, bare_id(answer["ChangeInfo"]["Id"])

    @_readable
    async def delete_zone(self, zone_id: str) -> str:
        """Delete an empty hosted zone; returns the ID of the change. Raises NotThere, InTheWay."""
        answer = await self._ask("delete_hosted_zone", Id=zone_id)
        return bare_id(answer["ChangeInfo"]["Id"])

    @_readable
    async def is_pending(self, change_id: str) -> bool:
        """Say whether a change is on its way still. Raises NotThere."""
        try:
            answer = await self._ask("get_change", Id=change_id)
        except Malformed:
            raise NotThere("No change of Route 53 has such an ID.") from None
        return bool(answer["ChangeInfo"]["Status"] != "INSYNC")

    @_readable
    async def records(self, zone_id: str) -> Observed:
        """Return every record set of a hosted zone."""
        found: dict[RecordKey, tuple[Record, ...]] = {}
        cursor: dict[str, str] = {}
        progress = _Progress("record sets")
        while True:
            progress.note(cursor)
            answer = await self._ask(
                "list_resource_record_sets",
                HostedZoneId=zone_id,
                MaxItems=PAGE_LIMIT,
                **cursor,
            )
            for each in answer["ResourceRecordSets"]:
                record = read_record(each)
                found[record.key] = (*found.get(record.key, ()), record)
            if not answer["IsTruncated"]:
                return found
            cursor = dict(_next_page(answer))

    @_readable
    async def record(self, zone_id: str, key: RecordKey) -> tuple[Record, ...]:
        """Return the record sets of one name and type, none when there are none; more than one with a routing policy."""
        answer = await self._ask(
            "list_resource_record_sets",
            HostedZoneId=zone_id,
            StartRecordName=f"{key.name}.",
            StartRecordType=key.type,
            MaxItems=PAGE_LIMIT,
        )
        records = (read_record(each) for each in answer["ResourceRecordSets"])
        return tuple(itertools.takewhile(lambda record: record.key == key, records))

    @_readable
    async def change(self, zone_id: str, changes: Iterable[Change]) -> str:
        """Submit one batch; returns the ID of the change. Raises BatchRejected when nothing of it was done."""
        batch = {"Comment": "dns-api", "Changes": [each.dump() for each in changes]}
        try:
            answer = await self._ask("change_resource_record_sets", HostedZoneId=zone_id, ChangeBatch=batch)
        except Malformed:
            # What is wrong stands in one of the changes, which must not hold up the others.
            raise BatchRejected(Fault.VALUE) from None
        return bare_id(answer["ChangeInfo"]["Id"])

    @_readable
    async def tags(self, zone_id: str) -> dict[str, str]:
        """Return the tags of a hosted zone."""
        answer = await self._ask("list_tags_for_resource", ResourceType="hostedzone", ResourceId=zone_id)
        return {each["Key"]: each.get("Value", "") for each in answer["ResourceTagSet"].get("Tags", ())}

    async def add_tags(self, zone_id: str, tags: Mapping[str, str]) -> None:
        """Set tags of a hosted zone; others stay as they are."""
        pairs = [{"Key": key, "Value": value} for key, value in sorted(tags.items())]
        for at in range(0, len(pairs), TAGS_IN_A_CALL):
            await self._ask(
                "change_tags_for_resource",
                ResourceType="hostedzone",
                ResourceId=zone_id,
                AddTags=pairs[at : at + TAGS_IN_A_CALL],
            )

    async def _ask(self, operation: str, **query: Any) -> Any:
        """Send one request from a worker thread when it is its turn."""
        await self._throttle.slot()
        try:
            with provider_call("route53", operation):
                send = functools.partial(contextvars.copy_context().run, self._send, operation, query)
                return await asyncio.get_running_loop().run_in_executor(self._threads, send)
        except Unavailable as failure:
            if not failure.outcome_unknown:
                self._throttle.complain(failure.retry_after_s)
            raise

    def _send(self, operation: str, query: Mapping[str, Any]) -> Any:
        try:
            with told_in_our_words():
                method = getattr(self._sessions.route53(self._chain), operation)
                assert_leading()  # opening a session may have taken its time
                return method(**query)
        except AccessDenied:
            self._sessions.forget(self._chain.identity)  # its credential may have been replaced
            raise


class _Progress:
    """Ends a listing whose pages lead back to one that was read."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._read: set[tuple[tuple[str, str], ...]] = set()

    def note(self, cursor: Mapping[str, str]) -> None:
        """Note that the page at `cursor` is read now. Raises Unavailable if it was before."""
        place = tuple(cursor.items())
        if place in self._read:
            raise Unavailable(f"Route 53 does not get on with its list of {self._what}; it is asked again.")
        self._read.add(place)


def _read_zone(answer: HostedZoneTypeDef, name_servers: Iterable[str] = ()) -> HostedZone:
    return HostedZone(
        id=bare_id(answer["Id"]),
        name=read_name(answer["Name"]),
        private=bool(answer.get("Config", {}).get("PrivateZone", False)),
        caller_reference=answer.get("CallerReference", ""),
        name_servers=tuple(sorted(read_name(name) for name in name_servers)),
    )


def _next_page(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The next page begins with a name, a type and, where a routing policy tells record sets apart, an identifier."""
    for cursor, member in (
        ("StartRecordName", "NextRecordName"),
        ("StartRecordType", "NextRecordType"),
        ("StartRecordIdentifier", "NextRecordIdentifier"),
    ):
        if answer.get(member):
            yield cursor, str(answer[member])
