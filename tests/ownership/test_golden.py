"""Vectors that were put together independently are read as what they are, and refused once they are tampered with."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from ownership.chain import Chain, select
from ownership.codec.envelope import Digest
from ownership.codec.manifest import decode_manifest
from ownership.codec.page import decode_page
from ownership.codec.snapshot import Snapshot, assemble
from ownership.error import FormatError
from ownership.member import MemberType
from tests.ownership import golden
from tests.ownership.golden import MAIL, ONE, ONE_PAGE, WWW, ZONE, manifest, manifest_of, marker, page, page_of, sha


def read(value: bytes, *pages: bytes) -> Snapshot:
    return assemble(decode_manifest(value), {Digest(sha(each)): each for each in pages})


def pairs(snapshot: Snapshot) -> list[golden.Pair]:
    return [(entry.name, entry.value) for entry in snapshot.entries]


def test_an_empty_snapshot_claims_nothing() -> None:
    snapshot = read(golden.EMPTY)
    assert (snapshot.owner, snapshot.sealed.manifest.revision, snapshot.entries) == ("prod", 1, ())


def test_one_entry_is_read() -> None:
    (entry,) = read(ONE, ONE_PAGE).entries
    assert (entry.fqdn, entry.owner, entry.type) == (f"www.{ZONE}", "prod", MemberType.A)
    assert entry.marker.member.target == "192.0.2.1"


def test_many_pages_are_joined_in_order() -> None:
    snapshot = read(golden.MANY, *golden.MANY_PAGES)
    assert pairs(snapshot) == golden.MANY_PAIRS
    assert [each.digest for each in snapshot.pages] == [sha(each) for each in golden.MANY_PAGES]


def test_the_owner_of_old_has_no_name() -> None:
    snapshot = read(golden.LEGACY, golden.LEGACY_PAGE)
    assert snapshot.owner == ""
    assert snapshot.entries[0].value.startswith("heritage=dnsweaver,record-target=")


def test_a_chain_of_three_selects_the_newest_in_any_order() -> None:
    one, second, third = map(decode_manifest, golden.CHAIN)
    for order in ([one, second, third], [third, one, second], [second, third, one], [third, second, one, one]):
        assert select(order) == Chain(third, (one, second))
    assert pairs(read(golden.THIRD, golden.SECOND_PAGE)) == [MAIL]


def test_fields_may_come_in_any_order_and_with_spaces() -> None:
    content = {"entries": 0, "pages": [], "version": 1, "previous": "", "revision": 1, "owner": "prod"}
    for text in (json.dumps(content, indent=3), json.dumps(dict(reversed(content.items())))):
        assert decode_manifest(manifest_of(text.encode())).manifest == decode_manifest(golden.EMPTY).manifest


def test_the_last_revision_is_read() -> None:
    assert decode_manifest(manifest("prod", 2**63 - 1, ONE, [], 0)).manifest.revision == 2**63 - 1


@pytest.mark.parametrize("system", [0, 3, 255])
def test_the_gzip_of_other_systems_is_read(system: int) -> None:
    assert len(decode_page(page([WWW], system=system)).entries) == 1


def entries_json(*values: Any) -> bytes:
    return page_of(json.dumps(values).encode())


def item(name: str = WWW[0], value: str = WWW[1], **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, **more}


TAMPERED_MANIFESTS = {
    "unknown field": (manifest("prod", 1, b"", [], 0, extra=1), "unknown field 'extra'"),
    "missing field": (manifest("prod", 1, b"", [], 0, owner=None), "field owner is missing"),
    "version 2": (manifest("prod", 1, b"", [], 0, version=2), "manifest.version: found 2"),
    "version as text": (manifest("prod", 1, b"", [], 0, version="1"), "found a string, allowed is an integer"),
    "version as fraction": (manifest("prod", 1, b"", [], 0, version=1.0), "allowed are integers"),
    "version as boolean": (manifest("prod", 1, b"", [], 0, version=True), "found a boolean"),
    "revision 0": (manifest("prod", 0, b"", [], 0), "manifest.revision: found 0"),
    "revision below 0": (manifest("prod", -1, b"", [], 0), "manifest.revision: found -1"),
    "revision without end": (manifest("prod", 1, b"", [], 0, revision=10**400), "401 digits"),
    "revision of 64 bits": (manifest("prod", 2**63, ONE, [], 0), "manifest.revision: found 9223372036854775808"),
    "entries below 0": (manifest("prod", 1, b"", [ONE_PAGE], -1), "manifest.entries: found -1"),
    "second without previous": (manifest("prod", 2, b"", [], 0), "manifest.previous"),
    "first with previous": (manifest("prod", 1, ONE, [], 0), "in revision 1"),
    "short digest": (manifest("prod", 2, b"", [], 0, previous="ab" * 31), "manifest.previous"),
    "uppercase digest": (manifest("prod", 2, b"", [], 0, previous="AB" * 32), "manifest.previous"),
    "page that is no digest": (manifest("prod", 1, b"", [], 1, pages=["x"]), "manifest.pages"),
    "page that is a number": (manifest("prod", 1, b"", [], 1, pages=[7]), "manifest.pages: found a number"),
    "pages that are no list": (manifest("prod", 1, b"", [], 1, pages="ab" * 32), "allowed is an array"),
    "the same page 36 times": (manifest("prod", 1, b"", [ONE_PAGE] * 36, 36), "found a page twice"),
    "the same page 64 times": (manifest("prod", 1, b"", [], 64, pages=list("a" * 64)), "found a page twice"),
    "65 pages": (manifest("prod", 1, b"", [], 65, pages=list("a" * 65)), "found 65 pages, allowed are 64"),
    "entries without pages": (manifest("prod", 1, b"", [], 3), "3 entries in 0 pages"),
    "pages without entries": (manifest("prod", 1, b"", [ONE_PAGE], 0), "0 entries in 1 pages"),
    "too many entries": (manifest("prod", 1, b"", [ONE_PAGE], 16_385), "found 16385"),
    "owner that is no text": (manifest("prod", 1, b"", [], 0, owner=5), "manifest.owner: found a number"),
    "owner with a comma": (manifest("a,b", 1, b"", [], 0), "without commas"),
    "owner with a line feed": (manifest("a\nb", 1, b"", [], 0), "printable"),
    "half a surrogate": (manifest("\ud800", 1, b"", [], 0), "surrogate"),
    "no object": (manifest_of(b"[]"), "found an array, allowed is an object"),
    "a field twice": (manifest_of(b'{"version":1,"version":1}'), "'version' twice"),
    "no JSON": (manifest_of(b"{"), "no JSON"),
    "NaN": (manifest_of(b'{"version":NaN}'), "found NaN"),
    "no UTF-8": (manifest_of(b'{"owner":"\xff"}'), "not UTF-8"),
    "deep JSON": (manifest_of(b"[" * 2600), "nested too deep"),
    "octets after the JSON": (manifest_of(b"{}{}"), "no JSON"),
    "padding": (ONE + b"=", "base64url"),
    "standard base64": (golden.EMPTY[:-1] + b"/", "base64url"),
    "a space": (golden.EMPTY + b" ", "base64url"),
    "a line feed at the end": (golden.EMPTY + b"\n", "base64url"),
    "an impossible length": (b"dnsweaver-state=v1:abcde", "impossible length"),
    "bits that mean nothing": (b"dnsweaver-state=v1:e31", "bits that mean nothing"),
    "version in the prefix": (golden.EMPTY.replace(b"v1:", b"v2:"), "allowed is dnsweaver-state=v1:"),
    "the prefix of a page": (ONE_PAGE, "allowed is dnsweaver-state=v1:"),
    "nothing": (b"", "allowed is dnsweaver-state=v1:"),
    "one octet too many": (b"dnsweaver-state=v1:" + b"A" * 3482, "found 3501 octets"),
}


@pytest.mark.parametrize(("value", "message"), TAMPERED_MANIFESTS.values(), ids=TAMPERED_MANIFESTS)
def test_a_manifest_that_was_tampered_with_is_refused(value: bytes, message: str) -> None:
    with pytest.raises(FormatError) as refused:
        decode_manifest(value)
    assert message in str(refused.value)
    assert len(str(refused.value)) < 400


LONG_NAME = f"_dnsweaver.{'x' * 64}.{ZONE}"
TAMPERED_PAGES = {
    "unknown field": (entries_json(item(more=1)), "unknown field 'more'"),
    "missing field": (entries_json({"name": WWW[0]}), "field value is missing"),
    "duplicate": (page([WWW, WWW]), "twice with the same value"),
    "out of order": (page([WWW, MAIL]), "allowed is sorted"),
    "no list": (page_of(b"{}"), "found an object, allowed is an array"),
    "no entry": (entries_json(7), "page[0]: found a number"),
    "name that is null": (entries_json({"name": None, "value": WWW[1]}), "page[0].name: found null"),
    "name without the label": (entries_json(item(f"www.{ZONE}")), "allowed is _dnsweaver."),
    "name of nothing": (entries_json(item("_dnsweaver.")), "page[0]"),
    "uppercase name": (entries_json(item(WWW[0].replace("www", "WWW"))), "lowercase"),
    "name with a dot at the end": (entries_json(item(WWW[0] + ".")), "dot at the end"),
    "name with a space": (entries_json(item(WWW[0].replace("www", "w w"))), "spaces"),
    "name with an empty label": (entries_json(item(f"_dnsweaver..{ZONE}")), "label of 0 octets"),
    "name with a long label": (entries_json(item(LONG_NAME)), "found the name"),
    "name of 200,000 characters": (entries_json(item("_dnsweaver." + "a." * 100_000)), "200011 characters"),
    "value of somebody else": (entries_json(item(value="v=spf1 -all")), "allowed is a marker"),
    "value of a fork": (entries_json(item(value=WWW[1].replace("dnsweaver", "dnsweaver-fork"))), "allowed is a marker"),
    "value without a record": (entries_json(item(value="heritage=dnsweaver,instance=prod")), "tells no record"),
    "record of another version": (entries_json(item(value=WWW[1].replace("n=2", "n=3"))), "record-version"),
    "record of another type": (entries_json(item(value=marker("prod", "LOC", "x"))), "record-type"),
    "target with padding": (entries_json(item(value=WWW[1].replace("MTky", "MT=y"))), "record-target"),
    "SRV without numbers": (entries_json(item(value=marker("prod", "SRV", "x"))), "record-srv-priority"),
    "HTTPS without fields": (entries_json(item(value=marker("prod", "HTTPS", "x"))), "record-https-target-name"),
    "expands to one octet too many": (page_of(b"[" + b" " * (256 * 1024 - 1) + b"]"), "more than 262144 octets"),
    "zip bomb": (page_of(b"0" * 2_500_000), "more than 262144 octets"),
    "deep JSON": (page_of(b"[" * 200_000), "nested too deep"),
    "second gzip member": (page([WWW], rest=golden.gzip(b"[]")), "octets after the gzip member"),
    "garbage after the member": (page([WWW], rest=b"x"), "1 octets after the gzip member"),
    "wrong checksum": (page([WWW], crc=1), "gzip trailer"),
    "time in the header": (page([WWW], mtime=1), "found a time"),
    "name in the header": (page([WWW], flags=8), "gzip flags 0x08"),
    "no gzip": (b"dnsweaver-page=v1:" + golden.b64(b"[]").encode(), "no gzip member"),
    "short gzip": (b"dnsweaver-page=v1:" + golden.b64(golden.gzip(b"[]")[:12]).encode(), "cut short"),
    "cut gzip": (b"dnsweaver-page=v1:" + golden.b64(golden.gzip(b"[]" * 50)[:-9]).encode(), "page: found"),
    "no deflate": (b"dnsweaver-page=v1:" + golden.b64(golden.gzip(b"")[:10] + b"\xff" * 20).encode(), "no deflate"),
    "the prefix of a manifest": (ONE, "allowed is dnsweaver-page=v1:"),
    "3,501 octets": (b"dnsweaver-page=v1:" + b"A" * 3483, "found 3501 octets"),
    "a megabyte": (b"dnsweaver-page=v1:" + b"A" * 1_000_000, "found 1000018 octets"),
}


@pytest.mark.parametrize(("value", "message"), TAMPERED_PAGES.values(), ids=TAMPERED_PAGES)
def test_a_page_that_was_tampered_with_is_refused(value: bytes, message: str) -> None:
    with pytest.raises(FormatError) as refused:
        decode_page(value)
    assert message in str(refused.value)
    assert len(str(refused.value)) < 400


def test_hostile_input_is_refused_in_little_memory() -> None:
    values: list[tuple[Callable[[bytes], object], bytes]] = [
        (decode_page, value) for value, _ in TAMPERED_PAGES.values()
    ]
    values += [(decode_manifest, value) for value, _ in TAMPERED_MANIFESTS.values()]
    values.append((decode_page, page_of(b"[" + b",".join([b"{}"] * 80_000) + b"]")))
    values.append((decode_page, page_of(b"[" + b",".join([b"0"] * 120_000) + b"]")))
    keys = b",".join(b'"%d":0' % number for number in range(600))
    values.append((decode_page, page_of(b"[{" + keys + b"}]")))
    tracemalloc.start()
    try:
        for decode, value in values:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            with pytest.raises(FormatError):
                decode(value)
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < 24_000_000
    finally:
        tracemalloc.stop()


SNAPSHOTS = {
    "missing page": (ONE, [], "is missing"),
    "wrong count": (manifest("prod", 1, b"", [ONE_PAGE], 2), [ONE_PAGE], "found 1 entries in its pages, allowed are 2"),
    "count too low": (manifest("prod", 1, b"", [golden.MANY_PAGES[0]], 4), [golden.MANY_PAGES[0]], "found 5 entries"),
    "other owner": (manifest("test", 1, b"", [ONE_PAGE], 1), [ONE_PAGE], "a marker of 'prod' in a snapshot of 'test'"),
    "the same entry in two pages": (
        manifest("prod", 1, b"", [ONE_PAGE, page([MAIL, WWW])], 3),
        [ONE_PAGE, page([MAIL, WWW])],
        "in two pages, allowed is once",
    ),
}


@pytest.mark.parametrize(("value", "pages", "message"), SNAPSHOTS.values(), ids=SNAPSHOTS)
def test_a_snapshot_that_does_not_fit_together_is_refused(value: bytes, pages: list[bytes], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(value, *pages)


def test_a_page_under_the_digest_of_another_is_refused() -> None:
    with pytest.raises(FormatError, match="found a page with the digest"):
        assemble(decode_manifest(ONE), {Digest(sha(ONE_PAGE)): golden.SECOND_PAGE})
