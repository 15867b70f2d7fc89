"""The RR TYPE numbers that the server treats in a way of their own (IANA DNS parameters)."""

from __future__ import annotations

from typing import Final

A: Final = 1
NS: Final = 2
MD: Final = 3
MF: Final = 4
CNAME: Final = 5
SOA: Final = 6
MB: Final = 7
MG: Final = 8
MR: Final = 9
PTR: Final = 12
MINFO: Final = 14
MX: Final = 15
TXT: Final = 16
AAAA: Final = 28
SRV: Final = 33
NAPTR: Final = 35
DNAME: Final = 39
OPT: Final = 41
DS: Final = 43
SSHFP: Final = 44
RRSIG: Final = 46
NSEC: Final = 47
DNSKEY: Final = 48
NSEC3: Final = 50
NSEC3PARAM: Final = 51
TLSA: Final = 52
CDS: Final = 59
CDNSKEY: Final = 60
SVCB: Final = 64
HTTPS: Final = 65
SPF: Final = 99
NXNAME: Final = 128
TKEY: Final = 249
TSIG: Final = 250
IXFR: Final = 251
AXFR: Final = 252
MAILB: Final = 253
MAILA: Final = 254
ANY: Final = 255
CAA: Final = 257

NONE: Final = 0
"""A reserved number that no zone holds: asking for it shows what a name says to a type that it lacks (RFC 6895 section 3.1)."""

COUNTED: Final = (
    *(
        A,
        NS,
        CNAME,
        SOA,
        PTR,
        MX,
        TXT,
        AAAA,
        SRV,
        NAPTR,
        DNAME,
        DS,
        SSHFP,
        RRSIG,
        NSEC,
        DNSKEY,
        NSEC3,
        NSEC3PARAM,
        TLSA,
        CDS,
    ),
    *(CDNSKEY, SVCB, HTTPS, SPF, IXFR, AXFR, ANY, CAA),
)
"""The types that questions are counted by; all others are counted as one, so that nobody can make the server remember numbers."""

OTHER_SLOT: Final = 0
SLOTS: Final = {number.to_bytes(2, "big"): slot for slot, number in enumerate(COUNTED, OTHER_SLOT + 1)}
"""The place of each counted type, by its two octets in a question, in a list of counts."""


def no_counts() -> list[int]:
    """Return a list with a place for every counted type and one for the others."""
    return [0] * (len(COUNTED) + 1)
