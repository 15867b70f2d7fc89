"""Names and types as people write them, for messages and logs.

Owns nothing else; never used on a query's way.
"""

from __future__ import annotations

import dns.name
import dns.rdatatype


def name_text(wire: bytes) -> str:
    """Return an uncompressed name in its master file form, with the trailing dot."""
    return dns.name.from_wire(wire, 0)[0].to_text()


def type_text(number: int) -> str:
    """Return a type's mnemonic, or TYPE and its number (RFC 3597 section 5)."""
    return dns.rdatatype.to_text(dns.rdatatype.RdataType.make(number))
