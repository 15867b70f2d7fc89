"""A wrong manifest is refused once, with every fault by its field."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import yaml

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from kube.errors import Invalid
from tests.product.claim import PROVIDER, ZONE, ZONE_CLASS, claim, manifest, zone, zone_class
from tests.product.stage import Stage
from tests.standalone.kubectl.command import Command

Faulty = tuple[dict[str, Any], set[str]]


def record_set(rtype: str, body: dict[str, Any], **spec: Any) -> dict[str, Any]:
    own = {"zoneRef": {"name": ZONE}, "provider": PROVIDER, "type": rtype, "name": "www", "ttl": 60}
    return manifest("RecordSet", "wrong", {**own, rtype.lower(): body, **spec})


def zone_with(**spec: Any) -> dict[str, Any]:
    found = zone("wrong.test", name="wrong")
    found["spec"] |= spec
    return found


FAULTY: dict[str, Faulty] = {
    "addresses": (
        record_set(
            "A", {"addresses": ["192.0.2.1", "2001:db8::1", "192.0.2.1", "192.0.2.256"]}, ttl=0, name="Upper_case"
        ),
        {"spec.ttl", "spec.name", "spec.a.addresses[1]", "spec.a.addresses[2]", "spec.a.addresses[3]"},
    ),
    "exchanges": (
        record_set("MX", {"records": [{"preference": 0, "exchange": "."}, {"preference": 70000, "exchange": "Mail."}]}),
        {"spec.mx.records", "spec.mx.records[1].preference", "spec.mx.records[1].exchange"},
    ),
    "authorities": (
        record_set("CAA", {"records": [{"flags": 256, "tag": "ISSUE", "value": ""}]}),
        {"spec.caa.records[0].flags", "spec.caa.records[0].tag", "spec.caa.records[0].value"},
    ),
    "alias at the apex": (
        record_set("CNAME", {"target": "192.0.2.1"}, name="@"),
        {"spec.name", "spec.cname.target"},
    ),
    "wildcard delegation": (
        record_set("NS", {"nameServers": ["ns1.example.net", "ns1.example.net", "ns_2.example.net"]}, name="*"),
        {"spec.name", "spec.ns.nameServers[1]", "spec.ns.nameServers[2]"},
    ),
    "missing fields": (
        manifest("RecordSet", "wrong", {"provider": PROVIDER, "type": "A"}),
        {"spec.zoneRef", "spec.name", "spec.ttl", "spec.a.addresses"},
    ),
    "zone": (
        zone_with(
            domainName="Example.COM.",
            allowedRecordSets=[
                {"namespaces": {"selector": {}}, "records": [{"name": {"pattern": "("}, "types": ["A", "SRV"]}]}
            ],
        ),
        {
            "spec.domainName",
            "spec.allowedRecordSets[0].namespaces.selector",
            "spec.allowedRecordSets[0].records[0].name.pattern",
            "spec.allowedRecordSets[0].records[0].types[1]",
        },
    ),
    "class": (
        zone_class(
            "wrong",
            nameServers=[{"name": "NS1.example.net"}, {"name": "ns2.example.net", "addresses": ["192.0.2.1", "host"]}],
            negativeTTL=-1,
            soa={"refresh": "2h", "rnmae": "hostmaster.example.net", "rname": "hostmaster@example.net"},
        ),
        {
            "spec.parameters.nameServers[0].name",
            "spec.parameters.nameServers[1].addresses[1]",
            "spec.parameters.negativeTTL",
            "spec.parameters.soa.refresh",
            "spec.parameters.soa.rnmae",
            "spec.parameters.soa.rname",
        },
    ),
}


@pytest.mark.parametrize("case", FAULTY)
async def test_every_fault_is_a_cause_of_one_refusal(stage: Stage, case: str) -> None:
    wrong, fields = FAULTY[case]
    with pytest.raises(Invalid) as caught:
        await stage.apply(wrong)
    assert {cause.field for cause in caught.value.causes} == fields
    for cause in caught.value.causes:
        assert cause.message
    assert await stage.remains() == {}


@pytest.mark.parametrize("case", FAULTY)
@pytest.mark.parametrize("how", ["apply", "apply --server-side", "create", "apply --dry-run=server"])
def test_kubectl_shows_every_fault(kubectl: Command, case: str, how: str) -> None:
    wrong, fields = FAULTY[case]
    said = kubectl.fails(*how.split(), "-f", "-", stdin=yaml.safe_dump(wrong))
    assert set(re.findall(r"^\* (\S+): ", said, re.MULTILINE)) == fields
    assert said.count("is invalid") == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (("name",), "other"),
        (("type",), "AAAA"),
        (("zoneRef", "name"), "other"),
        (("provider", "version"), "v2"),
    ],
    ids=lambda each: ".".join(each) if isinstance(each, tuple) else "",
)
async def test_what_a_record_is_does_not_change(stage: Stage, field: tuple[str, ...], value: str) -> None:
    www = claim("www", "A", "192.0.2.1")
    await stage.set_up(www)
    changed = copy.deepcopy(www.manifest())
    *way, last = field
    inside = changed["spec"]
    for each in way:
        inside = inside[each]
    inside[last] = value
    with pytest.raises(Invalid) as caught:
        await stage.apply(changed)
    assert "immutable" in caught.value.message
    assert any(cause.field.startswith(f"spec.{field[0]}") for cause in caught.value.causes)
    stage.assert_answered([www])


async def test_a_class_that_cannot_be_followed_names_every_fault(stage: Stage) -> None:
    """What a Provider's schema cannot say is the provider's to judge."""
    servers = [{"name": "ns1.example.net", "addresses": ["192.0.2.1", "192.0.2.300"]}]
    await stage.apply(zone_class(nameServers=servers, transfer={"allow": ["192.0.2.1/24"]}, soa={"minimum": 10}))
    found = await stage.until_condition(ZONE_CLASSES, ZONE_CLASS, "Accepted", "False", "InvalidParameters")
    for field in ("nameServers[0].addresses[1]", "transfer.allow[0]", "negativeTTL"):
        assert f"spec.parameters.{field}: found" in found["message"]
    await stage.apply(zone(stage.domain))
    await stage.until_condition(ZONES, ZONE, "Accepted", "False", "ZoneClassNotAccepted")
    await stage.apply(zone_class())
    await stage.until_programmed(ZONES, ZONE)


async def test_a_name_that_is_too_long_in_its_zone_is_refused(stage: Stage) -> None:
    await stage.set_up()
    label = "a" * 63
    long = claim(f"{label}.{label}.{label}.{label}", "A", "192.0.2.1").manifest(name="long")
    with pytest.raises(Invalid) as caught:
        await stage.apply(long)
    assert [cause.field for cause in caught.value.causes] == ["spec.name"]


async def test_a_refused_edit_leaves_everything_as_it_was(stage: Stage) -> None:
    www = claim("www", "A", "192.0.2.1")
    await stage.set_up(www)
    with pytest.raises(Invalid):
        await stage.apply(claim("www", "A", "nonsense").manifest())
    obj = await stage.until_programmed(RECORD_SETS, www.name)
    assert obj["metadata"]["generation"] == 1
    stage.assert_answered([www])


def test_a_misspelt_field_is_refused_by_its_path(kubectl: Command) -> None:
    wrong = claim("www", "A", "192.0.2.1").manifest()
    wrong["spec"]["tll"] = 60
    said = kubectl.fails("create", "--validate=strict", "-f", "-", stdin=yaml.safe_dump(wrong))
    assert 'unknown field "spec.tll"' in said
