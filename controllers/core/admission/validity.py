"""How long certificates last, read from their PEM form. Owns nothing else; whether somebody trusts them is not judged."""

from __future__ import annotations

from datetime import datetime

from cryptography import x509


def last_days(pem: bytes) -> tuple[datetime, ...]:
    """Return when each certificate of a file ends, in UTC and in the file's order; raises ValueError when it holds none."""
    return tuple(each.not_valid_after_utc for each in x509.load_pem_x509_certificates(pem))
