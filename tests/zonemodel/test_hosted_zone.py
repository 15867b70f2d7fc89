"""The HostedZone object as it crosses the API edge."""

import pytest
from pydantic import ValidationError

from zonemodel.hosted_zone import (
    SOA,
    HostedRecordSet,
    HostedZoneSpec,
    HostedZoneStatus,
    NameServer,
    PageRef,
    ServerState,
    ServerStatus,
)

DIGEST = "sha256:" + "0" * 64


def test_a_manifest_keeps_its_shape_over_the_api() -> None:
    written = {
        "domainName": "example.com",
        "source": {"name": "example-com", "uid": "u", "generation": 3},
        "serial": 4294967295,
        "soa": {"mname": "ns1.example.com", "rname": "hostmaster.example.com", "refresh": 1, "retry": 2, "expire": 3}
        | {"minimum": 0, "ttl": 0},
        "nameServers": [{"name": "ns1.example.com", "addresses": ["192.0.2.1"]}],
        "transfer": {"allow": ["192.0.2.0/24"], "notify": []},
        "digest": DIGEST,
        "recordSets": [{"name": "*", "type": "A", "ttl": 0, "a": {"addresses": ["192.0.2.1"]}}],
        "pages": [{"name": "example-com.0000000000000000", "digest": DIGEST}],
    }
    assert HostedZoneSpec.model_validate(written).dump() == written


def test_defaults_are_those_of_the_contract() -> None:
    soa = SOA(mname="ns1.example.com", rname="hostmaster.example.com")
    assert (soa.refresh, soa.retry, soa.expire, soa.minimum, soa.ttl) == (7200, 900, 1209600, 300, 3600)


@pytest.mark.parametrize(
    "spec",
    [
        {"serial": 2**32},
        {"serial": -1},
        {"digest": "sha256:abc"},
        {"digest": "0" * 64},
        {"soa": {"mname": "a", "rname": "b", "refresh": 0}},
        {"recordSets": [{"name": "www", "type": "SRV", "ttl": 1}]},
        {"recordSets": [{"name": "www", "type": "A", "ttl": 2**31}]},
        {"recordSets": [{"name": "www", "type": "A", "ttl": -1}]},
    ],
)
def test_values_outside_the_contract_are_refused(spec: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        HostedZoneSpec.model_validate(spec)


def test_values_are_immutable() -> None:
    server = NameServer(name="ns1.example.com")
    with pytest.raises(ValidationError):
        server.name = "ns2.example.com"
    with pytest.raises(ValidationError):
        PageRef(name="a", digest=DIGEST).digest = "x"


def test_a_server_reports_in_the_shape_of_the_api() -> None:
    entry = ServerStatus(
        name="ns-0",
        observed_generation=1,
        serial=5,
        digest="",
        state=ServerState.REJECTED,
        message="bad",
        last_transition_time="2030-01-01T00:00:00Z",
    )
    assert HostedZoneStatus(servers=(entry,)).dump() == {
        "servers": [
            {
                "name": "ns-0",
                "observedGeneration": 1,
                "serial": 5,
                "digest": "",
                "state": "Rejected",
                "message": "bad",
                "lastTransitionTime": "2030-01-01T00:00:00Z",
            }
        ]
    }


def test_unknown_fields_of_a_newer_writer_are_ignored() -> None:
    read = HostedRecordSet.model_validate({"name": "www", "type": "A", "ttl": 1, "new": True})
    assert read.dump() == {"name": "www", "type": "A", "ttl": 1}
