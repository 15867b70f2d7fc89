"""Whatever is encoded is decoded as the same, the same way each time, and no octet can change unnoticed."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ownership.codec.envelope import DIGEST_DIGITS, Digest, wrap, wrapped_bytes
from ownership.codec.manifest import Manifest, decode_manifest, encode_manifest
from ownership.codec.page import EXPANDED_MAX_BYTES, decode_page, encode_page
from ownership.codec.snapshot import Snapshot, assemble, succeed
from ownership.entry import Entry, claim, claims, sorted_entries
from ownership.error import FormatError, SnapshotTooLargeError
from ownership.member import Https, Member, MemberType, Srv
from ownership.naming import OwnerID
from tests.ownership import golden
from zonemodel.name import Fqdn
from zonemodel.record import ABody, CAABody, CAARecord, MXBody, MXRecord, RecordBodies

PROD = OwnerID("prod")
UINT16 = st.integers(0, 65535)
TEXT = st.text(max_size=80)
OWNERS = st.text(st.characters(exclude_characters=",", categories=("L", "N", "P", "S")), max_size=20).map(OwnerID)
LABELS = st.from_regex(r"\A(\*|[a-z0-9_]([a-z0-9-]{0,20}[a-z0-9])?)\Z")
FQDNS = st.lists(LABELS, min_size=1, max_size=4).map(lambda labels: Fqdn(".".join([*labels, "example.com"])))
PLAIN = st.sampled_from(sorted(set(MemberType) - {MemberType.SRV, MemberType.HTTPS}))
MEMBERS = st.one_of(
    st.builds(Member, PLAIN, TEXT),
    st.builds(Member, st.just(MemberType.SRV), TEXT, srv=st.builds(Srv, UINT16, UINT16, UINT16)),
    st.builds(Member, st.just(MemberType.HTTPS), TEXT, https=st.builds(Https, UINT16, TEXT, TEXT)),
)
METADATA = st.dictionaries(
    st.from_regex(r"\A[a-z]{1,8}\Z"), st.text(st.characters(exclude_characters=",", codec="utf-8"), max_size=9)
)
METADATA = METADATA.filter(lambda found: not {"instance", "heritage"} & found.keys())


def decoded(snapshot: Snapshot) -> Snapshot:
    values = {page.digest: page.value for page in snapshot.pages}
    return assemble(decode_manifest(snapshot.sealed.value), values)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    owner = draw(OWNERS)
    made = st.builds(claim, st.just(owner), FQDNS, MEMBERS, METADATA)
    first = succeed(None, owner, draw(st.lists(made, max_size=30)), draw(st.sampled_from([1200, 2000, 3500])))
    return draw(st.sampled_from([first, succeed(first, owner, draw(st.lists(made, max_size=30)), 3500)]))


@given(snapshots())
def test_a_snapshot_is_read_back_as_it_was(snapshot: Snapshot) -> None:
    assert decoded(snapshot) == snapshot


@given(OWNERS, FQDNS, MEMBERS, METADATA)
def test_a_claim_keeps_every_field(owner: OwnerID, fqdn: Fqdn, member: Member, metadata: dict[str, str]) -> None:
    entry = claim(owner, fqdn, member, metadata)
    assert (entry.owner, entry.fqdn, entry.marker.member) == (owner, fqdn, member)
    assert dict(entry.marker.metadata) == metadata


@given(OWNERS, st.integers(1, 2**63 - 1), st.binary(min_size=32, max_size=32), st.integers(0, 20))
def test_a_manifest_is_read_back_as_it_was(owner: OwnerID, revision: int, previous: bytes, pages: int) -> None:
    digests = tuple(Digest(golden.sha(bytes([number]))) for number in range(pages))
    manifest = Manifest(owner, revision, Digest(previous.hex() if revision > 1 else ""), digests, 7 * pages)
    sealed = encode_manifest(manifest)
    assert decode_manifest(sealed.value) == sealed
    assert sealed.manifest == manifest


@given(snapshots(), st.data())
def test_no_octet_of_a_page_can_change(snapshot: Snapshot, data: st.DataObject) -> None:
    if not snapshot.pages:
        return
    page = data.draw(st.sampled_from(snapshot.pages))
    at, octet = data.draw(st.integers(0, len(page.value) - 1)), data.draw(st.integers(0, 255))
    changed = page.value[:at] + bytes([octet]) + page.value[at + 1 :]
    if changed == page.value:
        return
    values = {each.digest: each.value for each in snapshot.pages} | {page.digest: changed}
    with pytest.raises(FormatError):
        assemble(snapshot.sealed, values)


def test_no_octet_of_a_manifest_can_change_without_its_being_another_one() -> None:
    """It is refused, or it is another revision of the history, whose digest its successor does not name."""
    sealed = encode_manifest(decode_manifest(golden.SECOND).manifest)
    chance = random.Random(4)
    for at in range(len(sealed.value)):
        for octet in {chance.randrange(256) for _ in range(12)} - {sealed.value[at]}:
            changed = sealed.value[:at] + bytes([octet]) + sealed.value[at + 1 :]
            try:
                found = decode_manifest(changed)
            except FormatError:
                continue
            assert found.manifest != sealed.manifest
            assert found.digest != sealed.digest


def test_every_octet_of_a_page_counts() -> None:
    sealed = decode_manifest(golden.ONE)
    digest = sealed.manifest.pages[0]
    for at in range(len(golden.ONE_PAGE)):
        changed = golden.ONE_PAGE[:at] + bytes([golden.ONE_PAGE[at] ^ 1]) + golden.ONE_PAGE[at + 1 :]
        with pytest.raises(FormatError):
            assemble(sealed, {digest: changed})


def many(count: int, target: str = "ingress.example.net") -> list[Entry]:
    member = Member(MemberType.CNAME, target)
    return [claim(PROD, Fqdn(f"host-{number:05}.apps.example.com"), member) for number in range(count)]


def test_encoding_is_the_same_in_another_process_and_another_order() -> None:
    script = """
from tests.ownership.test_codec import PROD, many
from ownership.codec.snapshot import succeed
print(succeed(None, PROD, many(900)[::-1], 3500).sealed.digest)
"""
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert done.stdout.strip() == succeed(None, PROD, many(900), 3500).sealed.digest


def test_pages_are_written_without_a_trace_of_the_process() -> None:
    import base64

    text = encode_page(many(3)).value.removeprefix(b"dnsweaver-page=v1:")
    member = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    assert member[:10] == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"


def test_pages_of_the_greatest_length_are_read() -> None:
    content = b"[" + b" " * (EXPANDED_MAX_BYTES - 2) + b"]"
    assert decode_page(golden.page_of(content)).entries == ()


@pytest.mark.parametrize(("limit", "count"), [(700, 600), (2000, 600), (3500, 600), (3800, 1400)])
def test_nothing_that_is_written_is_longer_than_the_backend_and_readers_allow(limit: int, count: int) -> None:
    snapshot = succeed(None, PROD, many(count), limit)
    assert max(len(page.value) for page in snapshot.pages) <= min(limit, 3500)
    assert len(snapshot.sealed.value) <= limit
    assert decoded(snapshot) == snapshot


def test_what_a_value_will_take_is_known_before() -> None:
    assert [wrapped_bytes(b"p:", size) for size in range(9)] == [len(wrap(b"p:", bytes(size))) for size in range(9)]


def test_a_page_holds_no_more_than_readers_expand() -> None:
    """However well it compresses."""
    snapshot = succeed(None, PROD, many(80, "x" * 4000), 3500)
    assert len(snapshot.pages) > 1
    assert decoded(snapshot) == snapshot


def test_a_claim_that_takes_all_of_a_page_is_written() -> None:
    noise = random.Random(1).randbytes(4000).hex()
    texts = (
        claim(PROD, Fqdn("large.example.com"), Member(MemberType.TXT, noise[:size])) for size in range(0, 4000, 50)
    )
    large = next(each for each in texts if len(encode_page([each]).value) > 3200)
    assert succeed(None, PROD, [large], 3500).entries == (large,)
    larger = next(each for each in texts if len(encode_page([each]).value) > 3500)
    with pytest.raises(SnapshotTooLargeError, match="more than the 3500 octets of a page"):
        succeed(None, PROD, [larger], 3800)


def test_nothing_follows_the_last_revision() -> None:
    last = encode_manifest(Manifest(PROD, 2**63 - 1, Digest("ab" * 32), (), 0))
    with pytest.raises(SnapshotTooLargeError, match="the last revision"):
        succeed(Snapshot(last, (), ()), PROD, many(1), 3500)


def test_the_greatest_snapshot_is_written_and_read() -> None:
    snapshot = succeed(None, PROD, many(16_384), 3500)
    assert decoded(snapshot) == snapshot
    with pytest.raises(SnapshotTooLargeError, match="16385 claims, allowed are 16384"):
        succeed(None, PROD, many(16_385), 3500)


def test_claims_that_no_manifest_can_list_are_refused() -> None:
    chance = random.Random(1)
    entries = [
        claim(
            PROD, Fqdn(f"{chance.randbytes(20).hex()}.example.com"), Member(MemberType.TXT, chance.randbytes(60).hex())
        )
        for _ in range(2_000)
    ]
    with pytest.raises(SnapshotTooLargeError, match="more than a manifest of 3500 octets names"):
        succeed(None, PROD, entries, 3500)


def test_a_claim_that_no_page_can_hold_is_refused_by_name() -> None:
    huge = claim(PROD, Fqdn("huge.example.com"), Member(MemberType.TXT, random.Random(1).randbytes(4000).hex()))
    with pytest.raises(SnapshotTooLargeError, match=r"_dnsweaver\.huge\.example\.com"):
        succeed(None, PROD, [*many(3), huge], 3500)


def test_half_a_surrogate_pair_is_refused() -> None:
    for member, metadata in ((Member(MemberType.TXT, "\ud800"), {}), (Member(MemberType.TXT, ""), {"note": "\udc00"})):
        with pytest.raises(FormatError, match="surrogate"):
            claim(PROD, Fqdn("www.example.com"), member, metadata)


def test_the_claims_of_others_are_refused() -> None:
    with pytest.raises(FormatError, match="a marker of 'prod' in a snapshot of 'test'"):
        succeed(None, OwnerID("test"), many(1), 3500)


@pytest.mark.parametrize("at", [0, 700, 9_000, 16_383])
def test_one_change_in_a_great_snapshot_makes_one_new_page(at: int) -> None:
    entries = many(16_384)
    before = succeed(None, PROD, entries, 3500)
    changed = [*entries[:at], claim(PROD, entries[at].fqdn, Member(MemberType.A, "192.0.2.7")), *entries[at + 1 :]]
    after = succeed(before, PROD, changed, 3500)
    assert len({page.digest for page in after.pages} - {page.digest for page in before.pages}) == 1
    assert after.sealed.manifest.previous == before.sealed.digest


def test_a_page_that_overflows_becomes_two_and_others_stay() -> None:
    before = succeed(None, PROD, many(4_000), 3500)
    more = [
        claim(
            PROD,
            Fqdn(f"host-01500-{golden.sha(bytes([number]))[:20]}.apps.example.com"),
            Member(MemberType.A, "192.0.2.7"),
        )
        for number in range(40)
    ]
    after = succeed(before, PROD, [*before.entries, *more], 3500)
    assert len(after.pages) == len(before.pages) + 1
    halves = set(after.pages) - set(before.pages)
    assert len(halves) == 2
    assert max(len(page.value) for page in halves) < 2500, "both have room"
    assert after.entries == sorted_entries([*before.entries, *more])


def test_the_pages_of_other_programs_stay_as_they_are() -> None:
    values = {Digest(golden.sha(each)): each for each in golden.MANY_PAGES}
    before = assemble(decode_manifest(golden.MANY), values)
    after = succeed(before, PROD, before.entries[:-1], 3500)
    assert after.pages[:-1] == before.pages[:-1]
    assert len(after.pages) == len(before.pages)


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 400), max_size=12), max_size=12), st.sampled_from([400, 700, 2000]))
def test_any_history_of_changes_keeps_every_claim(changes: list[list[int]], limit: int) -> None:
    everything = many(401)
    held: set[Entry] = set(everything[::9])
    snapshot = succeed(None, PROD, held, limit)
    for change in changes:
        held ^= {everything[number] for number in change}
        try:
            snapshot = succeed(snapshot, PROD, held, limit)
        except SnapshotTooLargeError:
            assert limit == 400
            return
        assert snapshot.entries == sorted_entries(held)
        assert decoded(snapshot) == snapshot
        assert all(len(page.value) <= limit for page in snapshot.pages)


def test_too_many_small_pages_are_packed_anew() -> None:
    everything = many(2_000)
    snapshot = succeed(None, PROD, [], 1200)
    for start in range(0, 2_000, 60):
        snapshot = succeed(snapshot, PROD, [*snapshot.entries, *everything[start : start + 60]], 1200)
        snapshot = succeed(snapshot, PROD, [each for each in snapshot.entries if each.name[18:20] != "77"], 1200)
    assert len(snapshot.sealed.value) <= 1200
    assert snapshot.entries == sorted_entries(each for each in everything if each.name[18:20] != "77")


def test_record_sets_are_claimed_record_by_record() -> None:
    bodies = RecordBodies(
        a=ABody(addresses=("192.0.2.2", "192.0.2.1")),
        mx=MXBody(records=(MXRecord(preference=10, exchange="mail.example.com"),)),
        caa=CAABody(records=(CAARecord(flags=0, tag="issue", value="ca.example.net; x=1, y=2"),)),
    )
    found = [(each.type, each.marker.member.target) for each in claims(PROD, Fqdn("example.com"), bodies)]
    assert sorted(found) == [
        ("A", "192.0.2.1"),
        ("A", "192.0.2.2"),
        ("CAA", "0 issue ca.example.net; x=1, y=2"),
        ("MX", "10 mail.example.com"),
    ]


def test_digests_have_the_length_that_everything_relies_on() -> None:
    assert len(succeed(None, PROD, (), 3500).sealed.digest) == DIGEST_DIGITS
