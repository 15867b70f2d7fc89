"""Names as Route 53 takes and gives them: any octet in, lowercase and three-digit octal escapes out.

"Domain name format" in the Route 53 developer guide: everything but a-z, 0-9, hyphen and underscore comes back escaped.
"""

from __future__ import annotations

from tests.controllers.providers.route53.fake.error import AwsError

Labels = tuple[bytes, ...]

PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")


def read_name(text: str) -> Labels:
    """Return the lowercase labels, leftmost first; a last dot is optional."""
    labels: list[bytes] = []
    label = bytearray()
    at = 0
    octets = text.encode()
    while at < len(octets):
        octet = octets[at]
        if octet == ord("\\"):
            digits = octets[at + 1 : at + 4]
            if len(digits) != 3 or not all(48 <= digit <= 55 for digit in digits) or int(digits, 8) > 255:
                raise AwsError("InvalidInput", f"Invalid escape in domain name: {text}")
            label.append(int(digits, 8))
            at += 4
            continue
        if octet == ord("."):
            labels.append(bytes(label))
            label.clear()
        else:
            label.append(octet)
        at += 1
    if label:
        labels.append(bytes(label))
    if not labels or any(not 1 <= len(each) <= 63 for each in labels) or sum(len(each) + 1 for each in labels) > 254:
        raise AwsError("InvalidInput", f"Invalid domain name: {text}")
    return tuple(each.lower() for each in labels)


def write_name(labels: Labels) -> str:
    """Return the name as the service writes it, with its last dot."""
    return "".join(f"{_escaped(label)}." for label in labels)


def sort_key(labels: Labels) -> str:
    """Return what listings are sorted by: the labels in reverse, each with its dot."""
    return "".join(f"{_escaped(label)}." for label in reversed(labels))


def _escaped(label: bytes) -> str:
    return "".join(chr(octet) if octet in PLAIN else f"\\{octet:03o}" for octet in label)
