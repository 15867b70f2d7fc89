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
AAAA: Final = 28
DNAME: Final = 39
OPT: Final = 41
DS: Final = 43
RRSIG: Final = 46
NSEC: Final = 47
DNSKEY: Final = 48
NSEC3: Final = 50
NSEC3PARAM: Final = 51
NXNAME: Final = 128
TKEY: Final = 249
TSIG: Final = 250
IXFR: Final = 251
AXFR: Final = 252
MAILB: Final = 253
MAILA: Final = 254
ANY: Final = 255

NONE: Final = 0
"""A reserved number that no zone holds: asking for it shows what a name says to a type that it lacks (RFC 6895 section 3.1)."""
