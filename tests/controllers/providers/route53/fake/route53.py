"""Route 53 itself: hosted zones, changes and tags of several accounts, one operation at a time."""

from __future__ import annotations

import itertools
import secrets
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.controllers.providers.route53.fake.error import AwsError, invalid_input, no_such_zone
from tests.controllers.providers.route53.fake.name import Labels, read_name, sort_key, write_name
from tests.controllers.providers.route53.fake.zone import NAME_SERVERS, HostedZone

ALPHABET = string.ascii_uppercase + string.digits
PAGE_LIMIT = 300
ID_LIMIT = 32
TAGS_IN_A_CALL = 10
TAGS_LIMIT = 50

Answer = dict[str, Any]


@dataclass(slots=True)
class Change:
    """A change that is on its way until it was asked about `polls` more times."""

    id: str
    polls: int
    submitted: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))

    def info(self) -> Answer:
        status = "PENDING" if self.polls > 0 else "INSYNC"
        return {"Id": f"/change/{self.id}", "Status": status, "SubmittedAt": self.submitted}


class Route53:
    """The service; `polls_until_insync` is how often a change answers PENDING, `page_limit` bounds every page."""

    def __init__(self) -> None:
        self.zones: dict[str, HostedZone] = {}
        self.changes: dict[str, Change] = {}
        self.polls_until_insync = 1
        self.page_limit = PAGE_LIMIT
        self._references: set[tuple[str, str]] = set()

    def zone(self, account: str, zone_id: str) -> HostedZone:
        found = self.zones.get(zone_id)
        if found is None or found.account != account:
            raise no_such_zone(zone_id)
        return found

    def create_hosted_zone(self, account: str, request: Answer) -> Answer:
        labels, reference = _zone_name(request["Name"]), request["CallerReference"]
        if (account, reference) in self._references:
            message = "A hosted zone has already been created with the specified caller reference."
            raise AwsError("HostedZoneAlreadyExists", message, 409)
        if not 1 <= len(reference) <= 128:
            raise invalid_input("The caller reference must have 1 to 128 characters")
        if len(labels) == 1 and labels[0] in {b"com", b"net", b"org"}:
            message = f"A conflicting domain already exists: {write_name(labels)} is reserved by AWS"
            raise AwsError("ConflictingDomainExists", message, 400)
        config = request.get("HostedZoneConfig", {})
        zone_id = f"Z{''.join(secrets.choice(ALPHABET) for _ in range(20))}"
        private = "VPC" in request
        zone = HostedZone(zone_id, labels, account, reference, config.get("Comment", ""), private)
        self.zones[zone_id] = zone
        self._references.add((account, reference))
        return {
            "HostedZone": _shown(zone),
            "ChangeInfo": self._begin().info(),
            "DelegationSet": {"NameServers": list(NAME_SERVERS)},
        }

    def get_hosted_zone(self, account: str, zone_id: str) -> Answer:
        zone = self.zone(account, zone_id)
        answer: Answer = {"HostedZone": _shown(zone)}
        if not zone.private:
            answer["DelegationSet"] = {"NameServers": list(NAME_SERVERS)}
        return answer

    def delete_hosted_zone(self, account: str, zone_id: str) -> Answer:
        zone = self.zone(account, zone_id)
        if not zone.is_empty:
            words = "The specified hosted zone contains non-required resource record sets and so cannot be deleted."
            raise AwsError("HostedZoneNotEmpty", words, 400)
        del self.zones[zone_id]
        return {"ChangeInfo": self._begin().info()}

    def list_hosted_zones_by_name(self, account: str, query: dict[str, str]) -> Answer:
        limit = _limit(query, 100, 100)
        zones = sorted(self._of(account), key=lambda zone: (sort_key(zone.labels), zone.id))
        if "hostedzoneid" in query and "dnsname" not in query:
            raise invalid_input("A hosted zone ID needs a DNS name")
        if "dnsname" in query:
            floor = (sort_key(read_name(query["dnsname"])), query.get("hostedzoneid", ""))
            zones = [zone for zone in zones if (sort_key(zone.labels), zone.id) >= floor]
        answer: Answer = {
            "HostedZones": [_shown(zone) for zone in zones[:limit]],
            "DNSName": query.get("dnsname"),
            "HostedZoneId": query.get("hostedzoneid"),
            "IsTruncated": len(zones) > limit,
            "MaxItems": str(limit),
        }
        if len(zones) > limit:
            answer["NextDNSName"], answer["NextHostedZoneId"] = zones[limit].name, zones[limit].id
        return answer

    def list_record_sets(self, account: str, zone_id: str, query: dict[str, str]) -> Answer:
        zone = self.zone(account, zone_id)
        limit = min(_limit(query, PAGE_LIMIT, PAGE_LIMIT), self.page_limit)
        if "type" in query and "name" not in query:
            raise invalid_input("A record type needs a record name")
        start = (query["name"], query.get("type", ""), query.get("identifier", "")) if "name" in query else None
        records, following = zone.page(start, limit)
        answer: Answer = {
            "ResourceRecordSets": [record.shown() for record in records],
            "IsTruncated": following is not None,
            "MaxItems": str(limit),
        }
        if following is not None:
            answer["NextRecordName"], answer["NextRecordType"] = write_name(following.labels), following.type
            answer["NextRecordIdentifier"] = following.identifier or None
        return answer

    def change_record_sets(self, account: str, zone_id: str, request: Answer) -> Answer:
        zone = self.zone(account, zone_id)
        batch = request.get("ChangeBatch") or {}
        zone.apply([(each["Action"], each["ResourceRecordSet"]) for each in batch.get("Changes", ())])
        return {"ChangeInfo": self._begin().info()}

    def get_change(self, change_id: str) -> Answer:
        if len(change_id) > ID_LIMIT:
            raise invalid_input(f"Member must have length less than or equal to {ID_LIMIT}")
        change = self.changes.get(change_id)
        if change is None:
            raise AwsError("NoSuchChange", f"Could not find resource with ID: {change_id}", 404)
        info = change.info()
        change.polls -= 1
        return {"ChangeInfo": info}

    def change_tags(self, account: str, zone_id: str, request: Answer) -> Answer:
        zone = self.zone(account, zone_id)
        added, removed = request.get("AddTags", []), request.get("RemoveTagKeys", [])
        if len(added) > TAGS_IN_A_CALL or len(removed) > TAGS_IN_A_CALL or not (added or removed):
            raise invalid_input(f"Between 1 and {TAGS_IN_A_CALL} tags can be added or removed in one call")
        tags = {key: value for key, value in zone.tags.items() if key not in removed}
        tags |= {each["Key"]: each.get("Value", "") for each in added}
        if len(tags) > TAGS_LIMIT or any(len(key) > 128 or len(value) > 256 for key, value in tags.items()):
            raise invalid_input("Too many tags, or tags that are too long")
        zone.tags = tags
        return {}

    def list_tags(self, account: str, zone_id: str) -> Answer:
        tags = [{"Key": key, "Value": value} for key, value in sorted(self.zone(account, zone_id).tags.items())]
        return {"ResourceTagSet": {"ResourceType": "hostedzone", "ResourceId": zone_id, "Tags": tags}}

    def settle(self) -> None:
        """Have every change be INSYNC."""
        for change in self.changes.values():
            change.polls = 0

    def _of(self, account: str) -> Iterator[HostedZone]:
        return (zone for zone in self.zones.values() if zone.account == account)

    def _begin(self) -> Change:
        change_id = next(each for each in map(_change_id, itertools.count()) if each not in self.changes)
        change = self.changes[change_id] = Change(change_id, self.polls_until_insync)
        return change


def _change_id(_: int) -> str:
    return f"C{''.join(secrets.choice(ALPHABET) for _ in range(20))}"


def _zone_name(text: str) -> Labels:
    try:
        return read_name(text)
    except AwsError as error:
        raise AwsError("InvalidDomainName", error.message, 400) from error


def _limit(query: dict[str, str], default: int, highest: int) -> int:
    text = query.get("maxitems", str(default))
    if not text.isdecimal() or not int(text) >= 1:
        raise invalid_input(f"Invalid MaxItems: {text}")
    return min(int(text), highest)


def _shown(zone: HostedZone) -> Answer:
    return {
        "Id": f"/hostedzone/{zone.id}",
        "Name": zone.name,
        "CallerReference": zone.reference,
        "Config": {"Comment": zone.comment or None, "PrivateZone": zone.private},
        "ResourceRecordSetCount": len(zone.records),
    }
