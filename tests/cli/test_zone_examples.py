"""The examples are right: as manifests, as a zone and as what they claim to show."""

from pathlib import Path

from typer.testing import CliRunner

from cli.zone import EXIT_LEFT_OUT, app
from cli.zone_export import Choice, export_zone
from cli.zone_import import Target, import_zone
from cli.zone_manifest import load
from controllers.api.reference import NamespacedRef, ProviderRef
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
    result = CliRunner().invoke(app, ["import", str(path)])
    assert result.exit_code == EXIT_LEFT_OUT
    assert "example.org: 7 record sets imported\nleft out: 1 record set\n" in result.stderr
