"""RFC 4035 section 3.1, RFC 5155 section 7.2: zones that come signed are served with their signatures and proofs.

The zones `nsec`, `nsec3` and `optout` below signed.test. have the same content and were signed by another program.
"""

from __future__ import annotations

import calendar
from functools import cache

import dns.dnssec
import dns.flags
import dns.message
import dns.name
import dns.node
import dns.rcode
import dns.rdataset
import dns.rdatatype
import dns.rrset
import pytest

from tests.server.question import Target

KINDS = ("nsec", "nsec3", "optout")
WITHIN_VALIDITY = calendar.timegm((2030, 1, 1, 0, 0, 0))
NSEC3_PARAMETERS = {"nsec3": ("AABBCCDD", 2), "optout": ("", 0)}


def ask(target: Target, name: str, rdtype: str = "A") -> dns.message.Message:
    return target.ask(name, rdtype, tcp=True, want_dnssec=True)


@cache
def keys(target: Target, apex: str) -> dict[dns.name.Name, dns.node.Node | dns.rdataset.Rdataset]:
    return {dns.name.from_text(apex): ask(target, apex, "DNSKEY").answer[0]}


def validated(target: Target, apex: str, section: list[dns.rrset.RRset]) -> dict[tuple[str, str], dns.rrset.RRset]:
    """The sets of a section by name, relative to the apex, and type, each with a signature that holds.

    The CNAME that a DNAME makes has no signature, and the NS set of a referral has none.
    """
    signatures = {(rrset.name, rrset.covers): rrset for rrset in section if rrset.rdtype == dns.rdatatype.RRSIG}
    found = {}
    for rrset in section:
        if rrset.rdtype == dns.rdatatype.RRSIG:
            continue
        if (signature := signatures.get((rrset.name, rrset.rdtype))) is not None:
            dns.dnssec.validate(rrset, signature, keys(target, apex), None, WITHIN_VALIDITY)
            assert signature.ttl == rrset.ttl
            found[str(rrset.name.relativize(dns.name.from_text(apex))), dns.rdatatype.to_text(rrset.rdtype)] = rrset
    return found


def covers(kind: str, apex: str, name: str, rrset: dns.rrset.RRset) -> bool:
    """Whether an NSEC3 set's interval holds the name's hash."""
    salt, iterations = NSEC3_PARAMETERS[kind]
    digest = dns.dnssec.nsec3_hash(f"{name}.{apex}" if name else apex, salt, iterations, "SHA1")
    first = rrset.name.labels[0].decode().upper()
    last = str(rrset[0]).split()[4].upper()
    return first < digest < last if first < last else digest > first or digest < last


def matches(kind: str, apex: str, name: str, rrset: dns.rrset.RRset) -> bool:
    salt, iterations = NSEC3_PARAMETERS[kind]
    digest = dns.dnssec.nsec3_hash(f"{name}.{apex}" if name else apex, salt, iterations, "SHA1")
    return rrset.name.labels[0].decode().upper() == digest


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_signed(kind: str, target: Target) -> None:
    apex = f"{kind}.signed.test."
    for name, rdtype, expected in (
        (apex, "SOA", {("@", "SOA")}),
        (apex, "DNSKEY", {("@", "DNSKEY")}),
        (f"www.{apex}", "A", {("www", "A")}),
        (f"alias.{apex}", "A", {("alias", "CNAME"), ("www", "A")}),
        (f"www.old.{apex}", "A", {("old", "DNAME"), ("www.new", "A")}),
        (f"secure.{apex}", "DS", {("secure", "DS")}),
    ):
        reply = ask(target, name, rdtype)
        assert reply.flags & dns.flags.AA
        assert validated(target, apex, reply.answer).keys() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_without_do_there_are_no_signatures(kind: str, target: Target) -> None:
    apex = f"{kind}.signed.test."
    for name in (f"www.{apex}", f"nope.{apex}", f"x.secure.{apex}", f"www.old.{apex}"):
        reply = target.ask(name, "A", tcp=True, use_edns=0)
        kinds = {rrset.rdtype for rrset in (*reply.answer, *reply.authority)}
        assert not kinds & {dns.rdatatype.RRSIG, dns.rdatatype.NSEC, dns.rdatatype.NSEC3, dns.rdatatype.DS}


@pytest.mark.parametrize("kind", KINDS)
def test_signatures_themselves_can_be_asked_for(kind: str, target: Target) -> None:
    reply = ask(target, f"www.{kind}.signed.test.", "RRSIG")
    assert {rrset.rdtype for rrset in reply.answer} == {dns.rdatatype.RRSIG}


NSEC_PROOFS = {
    ("nope", "A"): {"www.new", "@"},
    ("zz", "A"): {"www", "@"},
    ("www", "AAAA"): {"www"},
    ("top", "A"): {"to-wild"},
    ("x.wild", "A"): {"*.wild"},
    ("x.wild", "TXT"): {"*.wild"},
    ("insecure", "DS"): {"insecure"},
    ("x.insecure", "A"): {"insecure"},
    ("lost", "A"): {"www.new", "@"},
}


@pytest.mark.parametrize(("name", "rdtype"), NSEC_PROOFS)
def test_nsec_records_prove_what_is_not_there(name: str, rdtype: str, target: Target) -> None:
    apex = "nsec.signed.test."
    reply = ask(target, f"{name}.{apex}", rdtype)
    found = validated(target, apex, reply.authority)
    assert {owner for owner, kind in found if kind == "NSEC"} == NSEC_PROOFS[name, rdtype]
    if name != "x.insecure" and (name, rdtype) != ("x.wild", "A"):
        assert ("@", "SOA") in found


@pytest.mark.parametrize("kind", ["nsec3", "optout"])
def test_nsec3_records_prove_that_a_name_is_missing(kind: str, target: Target) -> None:
    """RFC 5155 section 7.2.2: the closest encloser, the next closer name, the wildcard."""
    apex = f"{kind}.signed.test."
    reply = ask(target, f"a.b.nope.{apex}")
    assert reply.rcode() == dns.rcode.NXDOMAIN
    proofs = [rrset for (_, type_), rrset in validated(target, apex, reply.authority).items() if type_ == "NSEC3"]
    assert any(matches(kind, apex, "", proof) for proof in proofs)
    assert any(covers(kind, apex, "nope", proof) for proof in proofs)
    assert any(covers(kind, apex, "*", proof) for proof in proofs)


@pytest.mark.parametrize("kind", ["nsec3", "optout"])
@pytest.mark.parametrize(("name", "rdtype"), [("www", "AAAA"), ("top", "A"), ("mid.top", "A"), ("secure", "DS")])
def test_nsec3_records_prove_that_a_type_is_missing(kind: str, name: str, rdtype: str, target: Target) -> None:
    apex = f"{kind}.signed.test."
    reply = ask(target, f"{name}.{apex}", rdtype)
    proofs = [rrset for (_, type_), rrset in validated(target, apex, reply.authority).items() if type_ == "NSEC3"]
    if name == "secure":
        assert not proofs
    else:
        assert len(proofs) == 1
        assert matches(kind, apex, name, proofs[0])


@pytest.mark.parametrize("kind", ["nsec3", "optout"])
def test_nsec3_records_prove_that_a_wildcard_was_right(kind: str, target: Target) -> None:
    """RFC 5155 sections 7.2.5 and 7.2.6."""
    apex = f"{kind}.signed.test."
    answer = ask(target, f"x.y.wild.{apex}")
    assert validated(target, apex, answer.answer).keys() == {("x.y.wild", "A")}
    (proof,) = validated(target, apex, answer.authority).values()
    assert covers(kind, apex, "y.wild", proof)
    denial = ask(target, f"x.y.wild.{apex}", "TXT")
    proofs = [rrset for (_, type_), rrset in validated(target, apex, denial.authority).items() if type_ == "NSEC3"]
    assert any(matches(kind, apex, "wild", proof) for proof in proofs)
    assert any(covers(kind, apex, "y.wild", proof) for proof in proofs)
    assert any(matches(kind, apex, "*.wild", proof) for proof in proofs)


@pytest.mark.parametrize("kind", KINDS)
def test_a_signed_delegation_comes_with_its_ds(kind: str, target: Target) -> None:
    apex = f"{kind}.signed.test."
    reply = ask(target, f"x.secure.{apex}")
    assert not reply.flags & dns.flags.AA
    assert reply.authority[0].rdtype == dns.rdatatype.NS
    assert validated(target, apex, reply.authority).keys() == {("secure", "DS")}


@pytest.mark.parametrize("kind", ["nsec3", "optout"])
def test_an_unsigned_delegation_is_proved_to_be_one(kind: str, target: Target) -> None:
    """RFC 5155 sections 7.2.4 and 7.2.7: where the child opted out, by the closest encloser."""
    apex = f"{kind}.signed.test."
    reply = ask(target, f"x.insecure.{apex}")
    proofs = list(validated(target, apex, reply.authority).values())
    if kind == "optout":
        assert any(matches(kind, apex, "", proof) for proof in proofs)
        assert any(covers(kind, apex, "insecure", proof) for proof in proofs)
    else:
        assert len(proofs) == 1
        assert matches(kind, apex, "insecure", proofs[0])


def test_hashed_owner_names_are_no_names(target: Target) -> None:
    """RFC 5155 section 7.2.8."""
    apex = "nsec3.signed.test."
    (proof, *_) = [each for each in ask(target, f"nope.{apex}").authority if each.rdtype == dns.rdatatype.NSEC3]
    for rdtype in ("NSEC3", "A"):
        assert ask(target, str(proof.name), rdtype).rcode() == dns.rcode.NXDOMAIN


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rdtype", ["RRSIG", "ANY"])
@pytest.mark.parametrize("want_dnssec", [False, True])
def test_each_signature_comes_once_and_with_the_ttl_of_its_set(
    kind: str, rdtype: str, want_dnssec: bool, target: Target
) -> None:
    """RFC 4034 section 3."""
    reply = target.ask(f"{kind}.signed.test.", rdtype, tcp=True, want_dnssec=want_dnssec)
    signatures = [rrset for rrset in reply.answer if rrset.rdtype == dns.rdatatype.RRSIG]
    assert {rrset.ttl for rrset in signatures} == ({60, 3600} if kind == "nsec" else {0, 3600})
    assert all(rdata.original_ttl == rrset.ttl for rrset in signatures for rdata in rrset)
    assert len(one_by_one(reply)) == len(set(one_by_one(reply)))


def one_by_one(reply: dns.message.Message) -> list[tuple[str, str]]:
    assert reply.wire is not None
    each = dns.message.from_wire(reply.wire, one_rr_per_rrset=True)
    return [(str(rrset.name), str(rdata)) for rrset in each.answer for rdata in rrset]
