"""The examples are right: as manifests, as a zone and as what they claim to show."""

from pathlib import Path

from typer.testing import CliRunner

from cli.zone.claim import Target
from cli.zone.command import EXIT_LEFT_OUT, zone_app
from cli.zone.exporting import Choice, export_zone
from cli.zone.importing import import_zone
from cli.zone.manifest import load
from cli.zone.source import read_zone_objects
from controllers.api.provider import parse_provider
from controllers.api.reference import NamespacedRef, ProviderRef
from controllers.core.admission.record_set import validate_record_set
from controllers.core.admission.zone import validate_zone
from controllers.core.admission.zone_class import validate_zone_class
from controllers.core.providercontract.contract import Contract, compile_contract
from controllers.core.providercontract.resolution import Unresolved, resolve_version
from controllers.providers.hosted.binding import PROVIDER_NAME, PROVIDER_VERSION
from controllers.providers.hosted.contract import provider_manifest
from controllers.providers.hosted.parameter_rule import parse_parameters
from controllers.providers.hosted.parameters import Parameters
from zonemodel.name import to_wire
from zonemodel.record import RecordType
from zonemodel.zonefile import read_zone_file

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_hosted_example_is_one_zone_of_all_seven_types() -> None:
    manifests = load([str(EXAMPLES / "hosted")])
    found = export_zone(manifests, Choice(), 0)
    assert found.left_out == ()
    assert {each["spec"]["type"] for each in manifests if each["kind"] == "RecordSet"} == set(RecordType)
    owners = {each.owner for each in found.zone.rrsets}
    assert {to_wire(f"{name}.example.com") for name in ("www", "*.app", "lab", "ns1.lab", "ns1")} <= owners


def test_the_hosted_example_is_what_an_import_of_its_own_zone_holds() -> None:
    zone = export_zone(load([str(EXAMPLES / "hosted")]), Choice(), 0).zone
    target = Target("z", None, NamespacedRef(name="c"), ProviderRef(name="p", version="v"))
    assert import_zone(zone, target).is_exact


def test_the_master_file_leaves_out_its_srv_record_only() -> None:
    path = EXAMPLES / "zonefile" / "example.org.zone"
    assert read_zone_file(path, None).warnings == ()
    result = CliRunner().invoke(zone_app(read_zone_objects), ["import", str(path)])
    assert result.exit_code == EXIT_LEFT_OUT
    assert "example.org: 7 record sets imported\nleft out: 1 record set\n" in result.stderr


def test_admission_takes_every_object_of_the_hosted_example() -> None:
    provider = parse_provider(provider_manifest())
    version = resolve_version(provider, ProviderRef(name=PROVIDER_NAME, version=PROVIDER_VERSION))
    assert not isinstance(version, Unresolved)
    contract = compile_contract(PROVIDER_NAME, version)
    assert isinstance(contract, Contract)
    for each in load([str(EXAMPLES / "hosted")]):
        match each["kind"]:
            case "ZoneClass":
                assert validate_zone_class(each, None, contract) == []
                assert isinstance(parse_parameters(each["spec"]["parameters"]), Parameters)
            case "Zone":
                assert validate_zone(each, None, contract) == []
            case "RecordSet":
                assert validate_record_set(each, None, contract, "example.com") == []
            case other:
                raise AssertionError(other)
