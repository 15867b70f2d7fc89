"""Who owns a record set: me, another, nobody, or nobody can tell."""

from __future__ import annotations

import pytest

from ownership.entry import Entry, claim
from ownership.member import Member, MemberType
from ownership.naming import OwnerID
from ownership.publish import Publisher
from ownership.view import Holder, Ownership, ZoneOwnership, read_ownership
from tests.ownership import golden
from tests.ownership.fake_zone import ZONE, FakeBackend, FakeZone, run
from tests.ownership.golden import marker
from zonemodel.name import Fqdn

ME, OTHER = OwnerID("prod"), OwnerID("test")
A = MemberType.A


def name(host: str) -> Fqdn:
    return Fqdn(f"{host}.{ZONE}")


def a(owner: OwnerID, host: str, address: str = "192.0.2.1") -> Entry:
    return claim(owner, name(host), Member(A, address))


def zone() -> FakeZone:
    content = FakeZone()
    run(Publisher(FakeBackend(content), ME).publish([a(ME, "mine"), a(ME, "mine", "192.0.2.2"), a(ME, "shared")]))
    run(Publisher(FakeBackend(content), OTHER).publish([a(OTHER, "theirs"), a(OTHER, "shared")]))
    content.put(f"_dnsweaver.old.{ZONE}", b"heritage=dnsweaver,instance=test")
    content.put(f"_dnsweaver.marked.{ZONE}", marker("third", "A", "192.0.2.1").encode())
    content.put(f"_dnsweaver.mine.{ZONE}", b"v=spf1 -all", b"heritage=dnsweaver-fork")
    return content


def view(content: FakeZone, me: OwnerID = ME) -> ZoneOwnership:
    return run(read_ownership(FakeBackend(content), me))


def test_what_i_alone_claim_is_mine_and_may_be_deleted() -> None:
    members = frozenset({Member(A, "192.0.2.1"), Member(A, "192.0.2.2")})
    assert view(zone()).of(name("mine"), A) == Ownership(Holder.ME, (), members, may_delete=True)


def test_another_type_of_the_same_name_is_another_record_set() -> None:
    assert view(zone()).of(name("mine"), MemberType.TXT).holder is Holder.NOBODY


def test_what_another_claims_is_theirs_by_name() -> None:
    found = view(zone()).of(name("theirs"), A)
    assert (found.holder, found.others, found.may_delete) == (Holder.OTHER, (OTHER,), False)
    assert found.reason == "it is claimed by 'test'"


def test_what_both_claim_is_mine_and_stays() -> None:
    content = zone()
    run(Publisher(FakeBackend(content), OTHER).claim([a(OTHER, "shared", "192.0.2.9")]))
    found = view(content).of(name("shared"), A)
    assert (found.holder, found.others, found.may_delete) == (Holder.ME, (OTHER,), False)
    assert found.members == {Member(A, "192.0.2.1")}
    assert found.others_members == {Member(A, "192.0.2.1"), Member(A, "192.0.2.9")}


def test_what_nobody_claims_is_nobodys() -> None:
    found = view(zone()).of(name("free"), A)
    assert (found.holder, found.may_delete) == (Holder.NOBODY, False)


def test_a_marker_in_the_zone_claims_like_an_entry() -> None:
    found = view(zone()).of(name("marked"), A)
    assert (found.holder, found.others) == (Holder.OTHER, (OwnerID("third"),))
    assert view(zone(), OwnerID("third")).of(name("marked"), A).holder is Holder.ME


def test_a_marker_that_tells_no_record_makes_its_name_ambiguous() -> None:
    for kind in MemberType:
        found = view(zone()).of(name("old"), kind)
        assert (found.holder, found.may_delete) == (Holder.AMBIGUOUS, False)
        assert "a marker of 'test' does not tell which record" in found.reason


def test_my_own_unclear_marker_is_no_reason_to_delete() -> None:
    content = zone()
    content.put(f"_dnsweaver.mine.{ZONE}", b"heritage=dnsweaver,instance=prod")
    found = view(content).of(name("mine"), A)
    assert (found.holder, found.may_delete) == (Holder.ME, False)


def test_an_owner_that_cannot_be_told_freezes_deletions_and_nothing_else() -> None:
    content = zone()
    content.put(golden.state_at("third"), golden.manifest("third", 1, b"", [golden.LEGACY_PAGE], 1))
    found = view(content)
    assert not found.may_delete
    mine, theirs, free = (found.of(name(host), A) for host in ("mine", "theirs", "free"))
    assert (mine.holder, mine.may_delete) == (Holder.ME, False)
    assert theirs.holder is Holder.OTHER
    assert free.holder is Holder.AMBIGUOUS
    assert "InvalidPages: owner 'third'" in free.reason


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (A, "192.000.002.001"),
        (A, "2001:db8::1"),
        (MemberType.AAAA, "fe80:"),
        (MemberType.CNAME, "a..b"),
        (MemberType.MX, "mail.example.com"),
        (MemberType.MX, "65536 mail.example.com"),
        (MemberType.CAA, "256 issue ca.test"),
        (MemberType.NS, "bücher.example.com"),
    ],
)
def test_a_claim_to_what_no_record_can_be_is_a_reason_to_keep_the_record_set(kind: MemberType, target: str) -> None:
    content = FakeZone()
    run(Publisher(FakeBackend(content), OTHER).publish([claim(OTHER, name("www"), Member(kind, target))]))
    found = view(content).of(name("www"), kind)
    assert (found.holder, found.may_delete) == (Holder.OTHER, False)
    assert f"found {target!r} claimed by 'test', which no such record can be" in found.doubt
    assert view(content).of(name("www"), MemberType.TXT).holder is Holder.NOBODY, (
        "other record sets are as clear as before"
    )
    assert view(content).may_delete


def test_what_a_record_can_be_is_clear() -> None:
    targets = {
        A: ("192.0.2.1", " 192.0.2.1 "),
        MemberType.AAAA: ("2001:DB8::1",),
        MemberType.CNAME: ("*.example.com.", "x"),
        MemberType.MX: ("0 .", "010 Mail.example.com."),
        MemberType.CAA: ("0 issue ", "128 Issue ca.test; a=b"),
        MemberType.NS: ("ns.example.com",),
        MemberType.TXT: ("", "é"),
    }
    assert all(Member(kind, target).tells_a_record for kind, found in targets.items() for target in found)


def test_my_record_sets_are_listed() -> None:
    assert view(zone()).mine() == {(name("mine"), A), (name("shared"), A)}


def test_the_others_are_listed() -> None:
    assert view(zone()).others() == (OTHER, OwnerID("third"))


def test_my_claims_to_a_record_set_are_what_to_withdraw() -> None:
    content = zone()
    claims = view(content).claims(name("mine"), A)
    assert claims == (a(ME, "mine"), a(ME, "mine", "192.0.2.2"))
    run(Publisher(FakeBackend(content), ME).withdraw(claims))
    assert view(content).of(name("mine"), A).holder is Holder.NOBODY
    assert view(content).claims(name("theirs"), A) == ()


def test_without_enumeration_the_markers_of_the_names_asked_about_are_looked_at() -> None:
    content = zone()
    backend = FakeBackend(content, enumerates=False)
    assert run(read_ownership(backend, ME, [name("old"), name("marked")])).of(name("old"), A).holder is Holder.AMBIGUOUS
    assert run(read_ownership(backend, ME, [name("marked")])).of(name("marked"), A).holder is Holder.OTHER
    assert run(read_ownership(backend, ME)).of(name("mine"), A).holder is Holder.ME
