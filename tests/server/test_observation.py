"""What is told about queries: metrics, the query log, dnstap."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import dns.message
import dns.rcode
import pytest
import structlog.testing

from server.config import Observation, Tls
from server.health.metrics import MOST_ZONES, ZoneSeries
from server.observe.dnstap import Dnstap
from server.observe.exchange import Exchange
from server.observe.query_log import query_fields
from server.transport import Transport
from server.wire import rcode_of
from tests.server.beside import Beside, beside, config
from tests.server.certificate import NAME, client_context, write_certificate
from tests.server.collector import READY, START, STOP, Collector, as_file
from tests.server.question import framed, read_framed
from tests.server.running import ANY_PORT
from zonemodel.name import WireName, to_wire

dnstap_pb2: Any = importlib.import_module("dnstap_pb.dnstap_pb2")  # generated, without types


def scrape(server: Beside) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server.http_port}/metrics") as response:
        lines = response.read().decode().splitlines()
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))
    }


def test_metrics_tell_types_zones_transports_and_durations(tmp_path: Path) -> None:
    tls = Tls((ANY_PORT,), *write_certificate(tmp_path, 1))
    with beside(config(http=(ANY_PORT,), tls=tls)) as server:
        target = server.target
        for _ in range(3):
            target.ask("short.ent.test.", "A")
        target.ask("no.ent.test.", "MX", tcp=True)
        target.ask("ent.test.", "ANY")
        target.ask("x.star.test.", "TYPE65400")
        target.ask("nobody.invalid.", "A")
        context = client_context(tls.certificate)
        with server.tls_target.connect() as plain, context.wrap_socket(plain, server_hostname=NAME) as client:
            client.sendall(framed(dns.message.make_query("short.ent.test.", "A").to_wire()))
            read_framed(client)
        found = scrape(server)
    assert found['dns_api_server_questions_by_type_total{type="A"}'] == 5
    assert found['dns_api_server_questions_by_type_total{type="MX"}'] == 1
    assert found['dns_api_server_questions_by_type_total{type="ANY"}'] == 1
    assert found['dns_api_server_questions_by_type_total{type="other"}'] == 1
    assert found['dns_api_server_questions_by_zone_total{zone="ent.test."}'] == 6
    assert found['dns_api_server_questions_by_zone_total{zone="star.test."}'] == 1
    assert 'dns_api_server_questions_by_zone_total{zone="cut.test."}' not in found
    assert found["dns_api_server_questions_outside_total"] == 1
    assert found['dns_api_server_queries_total{rcode="NOERROR",transport="tls"}'] == 1
    assert found['dns_api_server_queries_total{rcode="NXDOMAIN",transport="tcp"}'] == 1
    assert found['dns_api_server_query_duration_seconds_bucket{le="+Inf",transport="tcp"}'] == 1
    assert found['dns_api_server_query_duration_seconds_count{transport="udp"}'] >= 1
    assert found['dns_api_server_query_duration_seconds_sum{transport="tls"}'] > 0
    assert found["dns_api_server_tcp_opened_total"] == 2
    assert found['dns_api_server_rate_limited_total{action="dropped"}'] == 0


def test_an_rcode_is_not_looked_for_within_a_name() -> None:
    name = b"\x0ba\0bcde\0\0\x29xy\4test\0"
    assert rcode_of(bytes(3) + b"\5\0\1" + bytes(5) + b"\1" + name + b"\0\1\0\1\0\0\x29\4\xd0\1\0\0\0\0\0") == 0x15
    assert rcode_of(bytes(3) + b"\5" + bytes(7) + b"\1" + b"\0\0\x29\4\xd0\0\0\0\0\0\0") == 5


@pytest.mark.parametrize("tcp", [False, True])
def test_metrics_tell_rcodes_that_edns_extends(tcp: bool) -> None:
    with beside(config(http=(ANY_PORT,))) as server:
        assert server.target.ask("short.ent.test.", "A", use_edns=1, tcp=tcp).rcode() == dns.rcode.BADVERS
        server.target.ask("ent.ent.test.", "A", use_edns=0, tcp=tcp)
        server.target.ask(".", "A", use_edns=0, tcp=tcp)
        found = scrape(server)
    counted = {name: value for name, value in found.items() if name.startswith("dns_api_server_queries_total")}
    transport = "tcp" if tcp else "udp"
    assert counted == {
        f'dns_api_server_queries_total{{rcode="{rcode}",transport="{transport}"}}': 1
        for rcode in ("BADVERS", "NXDOMAIN", "REFUSED")
    }


def test_counts_go_over_to_the_next_version_of_a_zone(tmp_path: Path) -> None:
    with beside(config(http=(ANY_PORT,))) as server:
        server.target.ask("short.ent.test.", "A")
        server.reload()
        server.target.ask("short.ent.test.", "A")
        assert scrape(server)['dns_api_server_questions_by_zone_total{zone="ent.test."}'] == 2


def zone(number: int) -> WireName:
    return to_wire(f"z{number}.test")


def test_the_busiest_zones_have_a_series_and_the_others_share_one_that_never_falls() -> None:
    series = ZoneSeries()
    asked = {zone(number): number for number in range(MOST_ZONES + 10)}
    first = dict(series.update(asked))
    assert len(first) == MOST_ZONES + 1
    assert first["z109.test."] == 109
    assert first["other"] == sum(range(10))
    asked[zone(3)] += 1000
    second = dict(series.update(asked))
    assert second["other"] == first["other"] + 1000
    del asked[zone(109)]
    third = dict(series.update(asked))
    assert "z109.test." not in third
    assert third["other"] == second["other"]
    asked[zone(3)] += 1
    fourth = dict(series.update(asked))
    assert fourth["z3.test."] == 1
    assert fourth["other"] == third["other"]
    assert sum(fourth.values()) == sum(asked.values())


def test_a_zone_that_goes_and_comes_back_counts_from_nothing() -> None:
    series = ZoneSeries()
    assert dict(series.update({zone(1): 5})) == {"z1.test.": 5}
    assert dict(series.update({zone(1): 2})) == {"z1.test.": 7}
    assert dict(series.update({})) == {}
    assert dict(series.update({zone(1): 2})) == {"z1.test.": 2}


def test_one_query_in_so_many_is_logged() -> None:
    with structlog.testing.capture_logs() as lines:
        with beside(config(observation=Observation(log_one_in=3))) as server:
            for number in range(7):
                server.target.ask(f"q{number}.ent.test.", "A")
        logged = [line for line in lines if line["event"] == "query"]
    assert [line["name"] for line in logged] == ["q0.ent.test.", "q3.ent.test.", "q6.ent.test."]
    assert logged[0] == {
        "event": "query",
        "log_level": "info",
        "client": "127.0.0.1",
        "port": logged[0]["port"],
        "transport": "udp",
        "name": "q0.ent.test.",
        "type": "A",
        "class": "IN",
        "rcode": "NXDOMAIN",
        "flags": "qr aa",
        "size": logged[0]["size"],
    }


def test_without_a_log_or_a_tap_nothing_is_noted() -> None:
    with structlog.testing.capture_logs() as lines, beside(config()) as server:
        server.target.ask("short.ent.test.", "A")
    assert not [line for line in lines if line["event"] == "query"]


@pytest.mark.parametrize("query", [b"", b"\0" * 12, b"\0" * 11 + b"\xff" * 30])
def test_a_line_can_be_made_of_any_packet(query: bytes) -> None:
    fields = query_fields(Exchange(Transport.TCP, ("::1", 1), ("::1", 53), query, None))
    assert fields["name"] in {"", "."}
    assert (fields["transport"], fields["rcode"], fields["size"]) == ("tcp", "none", 0)


def message(frame: bytes) -> Any:
    tap = dnstap_pb2.Dnstap()
    tap.ParseFromString(frame)
    assert tap.identity == b"me"
    assert tap.version.startswith(b"dns-api ")
    return tap.message


def test_dnstap_carries_every_query_and_reply(tmp_path: Path) -> None:
    path = tmp_path / "tap"
    with Collector(path) as collector:
        with beside(config(name="me", observation=Observation(dnstap=path))) as server:
            server.wait_until(lambda: START in collector.controls, "the handshake")
            reply = server.target.ask("short.ent.test.", "A")
            server.target.ask("no.ent.test.", "A", tcp=True)
            server.target.exchange(b"\x00" * 11)
            frames = [message(frame) for frame in collector.wait_for(5)]
        port = server.server.ports[0]
    assert collector.controls == [READY, START, STOP]
    kinds = [dnstap_pb2.Message.Type.Name(each.type) for each in frames]
    assert kinds == ["AUTH_QUERY", "AUTH_RESPONSE", "AUTH_QUERY", "AUTH_RESPONSE", "AUTH_QUERY"]
    query, response = frames[:2]
    assert dns.message.from_wire(query.query_message).question[0].name.to_text() == "short.ent.test."
    assert response.response_message == reply.wire
    assert [each.socket_protocol for each in frames] == [
        *[dnstap_pb2.SocketProtocol.UDP] * 2,
        *[dnstap_pb2.SocketProtocol.TCP] * 2,
        dnstap_pb2.SocketProtocol.UDP,
    ]
    for each in frames:
        assert each.socket_family == dnstap_pb2.SocketFamily.INET
        assert (each.query_address, each.response_address) == (b"\x7f\0\0\1", b"\x7f\0\0\1")
        assert each.response_port == port
        assert each.query_time_sec > 1_600_000_000


def test_a_collector_may_come_late_go_and_come_back_and_costs_no_reply(tmp_path: Path) -> None:
    path = tmp_path / "tap"
    with beside(config(name="me", observation=Observation(dnstap=path))) as server:
        tap = server.server.listeners.dnstap
        assert tap is not None
        for _ in range(2):
            server.target.ask("short.ent.test.", "A")
            with Collector(path) as collector:
                server.wait_until(lambda: START in collector.controls, "the handshake")
                server.target.ask("short.ent.test.", "A")
                collector.wait_for(2)
            server.wait_until(lambda: _is_gone(tap), "the end noticed")
        assert tap.left_out >= 2


def _is_gone(tap: Dnstap) -> bool:
    """Give it something to send, which shows whether somebody takes it."""
    before = tap.left_out
    tap.note(Exchange(Transport.UDP, ("127.0.0.1", 1), ("127.0.0.1", 53), b"\0" * 12, None))
    return tap.left_out > before


def test_what_a_slow_collector_has_to_take_is_bounded_in_octets(tmp_path: Path) -> None:
    exchange = Exchange(Transport.TCP, ("127.0.0.1", 1), ("127.0.0.1", 53), b"\0" * 12, bytes(65_000))
    path = tmp_path / "tap"
    with Collector(path) as collector, beside(config(observation=Observation(dnstap=path))) as server:
        server.wait_until(lambda: START in collector.controls, "the handshake")
        tap = server.server.listeners.dnstap
        assert tap is not None
        server.read(lambda: [*map(tap.note, [exchange] * 1000)])
        assert 400 < tap.left_out < 600
        server.wait_until(lambda: tap.sent + 2 * tap.left_out == 2000, "the others sent")
        server.read(lambda: tap.note(exchange))
        server.wait_until(lambda: tap.sent + 2 * tap.left_out == 2002, "room again")
        assert tap.left_out < 600


def test_a_collector_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tap"
    with (
        Collector(path, accepts=b"something else") as collector,
        beside(config(observation=Observation(dnstap=path))) as server,
    ):
        server.wait_until(lambda: collector.controls.count(READY) >= 2, "another try")
        assert server.target.ask("short.ent.test.", "A").answer
    assert START not in collector.controls


def test_other_programs_read_what_is_sent(tmp_path: Path) -> None:
    reader = shutil.which("dnstap-read")
    if reader is None:
        pytest.skip("dnstap-read is not installed")
    path = tmp_path / "tap"
    with Collector(path) as collector, beside(config(name="me", observation=Observation(dnstap=path))) as server:
        server.wait_until(lambda: START in collector.controls, "the handshake")
        server.target.ask("short.ent.test.", "A")
        frames = collector.wait_for(2)
    file = tmp_path / "file"
    file.write_bytes(as_file(frames))
    text = subprocess.run([reader, str(file)], check=True, capture_output=True, text=True).stdout
    assert [line.split()[2] for line in text.splitlines()] == ["AQ", "AR"]
    assert text.count("short.ent.test/IN/A") == 2
    assert f"127.0.0.1:{server.server.ports[0]} UDP" in text


def test_replies_are_counted_although_nobody_listens(tmp_path: Path) -> None:
    with beside(config(http=(ANY_PORT,), observation=Observation(log_one_in=1, dnstap=tmp_path / "nobody"))) as server:
        server.target.ask("short.ent.test.", "A")
        found = scrape(server)
    assert found["dns_api_server_dnstap_left_out_total"] == 1
    assert found["dns_api_server_dnstap_sent_total"] == 0
    assert found["dns_api_server_query_log_left_out_total"] == 0
