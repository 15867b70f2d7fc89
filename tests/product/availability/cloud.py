"""The two providers elsewhere as a manager in a process of its own sees them: fakes that keep what is written, and are listened to.

Owns how each is reached, what is declared there, and what was done to each record. Everything runs in threads of this process, so that
a manager can be ended while its question is under way.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from controllers.api.group import RECORD_SETS, SECRETS, ZONE_CLASSES, ZONES
from controllers.providers.cloudflare.identity.resource import CLOUDFLARE_IDENTITIES
from controllers.providers.route53.identity.resource import ROUTE53_IDENTITIES
from tests.controllers.providers.cloudflare import world as cloudflare
from tests.controllers.providers.cloudflare.fake.failure import ApiError, Kind
from tests.controllers.providers.cloudflare.fake.failure import Call as CloudflareCall
from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare
from tests.controllers.providers.route53 import world as route53
from tests.controllers.providers.route53.fake.server import WRITES, FakeAws, serving
from tests.helm.gate import own_loop

Object = dict[str, Any]
Change = tuple[str, str, str]
"""What was done, and to the records of which name and type."""
REFS = {
    each.kind: each for each in (SECRETS, CLOUDFLARE_IDENTITIES, ROUTE53_IDENTITIES, ZONE_CLASSES, ZONES, RECORD_SETS)
}
FOREIGN = "somebody-elses"


class Cloud(Protocol):
    """One provider with its fake."""

    @property
    def words(self) -> tuple[str, ...]:
        """Options of a manager that has this provider and no other."""

    @property
    def domain(self) -> str: ...

    @property
    def environment(self) -> dict[str, str]: ...

    def claims(self) -> list[Object]:
        """Return everything but RecordSets."""

    def address(self, owner: str, address: str) -> Object:
        """Return a RecordSet of one address."""

    def plant(self) -> None:
        """Have somebody else put a record into the zone."""

    def listen(self, heard: Callable[[bool], None]) -> None:
        """Call `heard` when a question about the zone's records comes, before it is answered, with whether it writes."""

    def done(self) -> Counter[Change]:
        """Return how often what was done to records."""

    def refused(self) -> list[object]:
        """Return the writes that were not taken."""

    def addresses(self) -> dict[str, set[str]]:
        """Return what the zone holds, by name."""


class Route53:
    """Route 53, by the fake of its API."""

    words = (
        "--no-hosted-controller-enabled",
        "--route53-controller-enabled",
        "--no-cloudflare-controller-enabled",
        "--route53-change-check-seconds=0.2",
    )
    domain = route53.DOMAIN

    def __init__(self, fake: FakeAws) -> None:
        self._fake = fake
        fake.identities.add_user(route53.KEY_ID, route53.SECRET, route53.ACCOUNT)

    @property
    def environment(self) -> dict[str, str]:
        return route53.runtime_credentials() | {"AWS_ENDPOINT_URL": self._fake.url}

    def claims(self) -> list[Object]:
        return [route53.identity(), route53.zone_class(), route53.zone()]

    def address(self, owner: str, address: str) -> Object:
        return route53.a(owner, address)

    def plant(self) -> None:
        change = {"Action": "CREATE", "ResourceRecordSet": route53.wire(f"{FOREIGN}.{self.domain}.", "A", "192.0.2.99")}
        (zone_id,) = self._fake.route53.zones
        self._fake.route53.change_record_sets(route53.ACCOUNT, zone_id, {"ChangeBatch": {"Changes": [change]}})

    def listen(self, heard: Callable[[bool], None]) -> None:
        answered = self._fake.answer

        def answer(operation: str, *rest: Any) -> bytes:
            if operation in ("ListResourceRecordSets", "ChangeResourceRecordSets"):
                heard(operation in WRITES)
            return answered(operation, *rest)

        self._fake.answer = answer  # type: ignore[method-assign, assignment] # the fake has no place of its own to listen at

    def done(self) -> Counter[Change]:
        return Counter(
            (change["Action"], change["ResourceRecordSet"]["Name"], change["ResourceRecordSet"]["Type"])
            for call in self._fake.calls
            if call.operation == "ChangeResourceRecordSets"
            for change in call.request["ChangeBatch"]["Changes"]
        )

    def refused(self) -> list[object]:
        return [call for call in self._fake.calls if call.operation in WRITES and call.code]

    def addresses(self) -> dict[str, set[str]]:
        (zone_id,) = self._fake.route53.zones
        answer = self._fake.route53.list_record_sets(route53.ACCOUNT, zone_id, {"maxitems": "300"})
        return {
            each["Name"].removesuffix(f".{self.domain}."): {value["Value"] for value in each["ResourceRecords"]}
            for each in answer["ResourceRecordSets"]
            if each["Type"] == "A"
        }


class Cloudflare:
    """Cloudflare, by the fake of its API."""

    words = ("--no-hosted-controller-enabled", "--no-route53-controller-enabled", "--cloudflare-controller-enabled")
    domain = cloudflare.DOMAIN

    def __init__(self, fake: FakeCloudflare) -> None:
        self._fake = fake
        self._done: Counter[Change] = Counter()
        self._refused: list[object] = []
        fake.state.add_token(cloudflare.TOKEN, fake.state.add_account())
        answered = fake.state.batch

        def batch(token: Any, zone_id: str, body: Any) -> dict[str, Any]:
            names = {key: (each["name"], each["type"]) for key, each in fake.state.records[zone_id].items()}
            try:
                result = answered(token, zone_id, body)
            except ApiError as error:
                self._refused.append((error, body))
                raise
            for verb in ("deletes", "patches", "puts"):
                self._done.update((verb, *names[each["id"]]) for each in body.get(verb) or ())
            self._done.update(("posts", each["name"], each["type"]) for each in body.get("posts") or ())
            return result

        fake.state.batch = batch  # type: ignore[method-assign] # the fake has no place of its own to listen at

    @property
    def environment(self) -> dict[str, str]:
        return {"CLOUDFLARE_API_URL": self._fake.url}

    def claims(self) -> list[Object]:
        return [cloudflare.secret(), cloudflare.identity(), cloudflare.zone_class(), cloudflare.zone()]

    def address(self, owner: str, address: str) -> Object:
        return cloudflare.a(owner, address)

    def plant(self) -> None:
        (zone_id,) = self._fake.state.zones
        self._fake.state.add_record(
            zone_id, name=f"{FOREIGN}.{self.domain}", type="A", content="192.0.2.99", ttl=300, proxied=False
        )

    def listen(self, heard: Callable[[bool], None]) -> None:
        def looks(call: CloudflareCall) -> bool:
            if "/dns_records" in call.path and not call.writes:
                heard(False)
            return False

        self._fake.fail(Kind.HANG_UP, looks)  # which it never is
        self._fake.before_write = lambda _: heard(True)  # when all of the question has come

    def done(self) -> Counter[Change]:
        return self._done

    def refused(self) -> list[object]:
        return self._refused

    def addresses(self) -> dict[str, set[str]]:
        (zone_id,) = self._fake.state.zones
        found: dict[str, set[str]] = {}
        for each in self._fake.state.records[zone_id].values():
            if each["type"] == "A":
                found.setdefault(each["name"].removesuffix(f".{self.domain}"), set()).add(each["content"])
        return found


@contextmanager
def serving_route53() -> Iterator[Cloud]:
    """Serve Route 53 in a thread."""
    with serving(FakeAws()) as fake:
        yield Route53(fake)


@contextmanager
def serving_cloudflare() -> Iterator[Cloud]:
    """Serve Cloudflare in a thread."""
    with own_loop() as loop:
        fake = FakeCloudflare()
        asyncio.run_coroutine_threadsafe(fake.__aenter__(), loop).result(30)
        try:
            yield Cloudflare(fake)
        finally:
            asyncio.run_coroutine_threadsafe(fake.__aexit__(), loop).result(30)
