"""Whether a value is one for its type, with the words that the service refuses it with; and values as they are compared.

Only the types that the product programs are judged; others are taken as they come.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from tests.controllers.providers.route53.fake.error import AwsError
from tests.controllers.providers.route53.fake.name import read_name

STRING = re.compile(r'"((?:[^"\\]|\\[0-7]{3}|\\.)*)"')


class ValueFaultError(Exception):
    """Why a value is refused."""


def check_value(rdtype: str, value: str) -> object:
    """Return what the value is compared by. Raises ValueFaultError."""
    check = CHECKS.get(rdtype)
    return check(value) if check is not None else value


def strings_of(value: str) -> list[bytes]:
    """Return the character-strings of a TXT value. Raises ValueFaultError."""
    strings: list[bytes] = []
    at = 0
    while at < len(value):
        found = STRING.match(value, at)
        if found is None:
            raise _fault("InvalidCharacterString", "Value should be enclosed in quotation marks", value)
        octets = _unescaped(found[1])
        if len(octets) > 255:
            raise _fault("CharacterStringTooLong", "Value is too long", found[0])
        strings.append(octets)
        at = found.end()
        while at < len(value) and value[at] == " ":
            at += 1
    if not strings:
        raise _fault("InvalidCharacterString", "Value should be enclosed in quotation marks", value)
    return strings


def _unescaped(text: str) -> bytes:
    out = bytearray()
    at = 0
    while at < len(text):
        if text[at] != "\\":
            out += text[at].encode()
            at += 1
        elif text[at + 1 : at + 4].isdigit() and len(text[at + 1 : at + 4]) == 3:
            out.append(int(text[at + 1 : at + 4], 8))
            at += 4
        else:
            out += text[at + 1].encode()
            at += 2
    return bytes(out)


def _a(value: str) -> object:
    try:
        return IPv4Address(value)
    except AddressValueError:
        raise _fault("ARRDATAIllegalIPv4Address", "Value is not a valid IPv4 address", value) from None


def _aaaa(value: str) -> object:
    try:
        return IPv6Address(value)
    except AddressValueError:
        raise _fault("AAAARRDATAIllegalIPv6Address", "Value is not a valid IPv6 address", value) from None


def _name(value: str) -> object:
    if value == ".":
        return ()
    try:
        return read_name(value)
    except AwsError:
        raise _fault("DomainNameLabelInvalid", "Value is not a valid domain name", value) from None


def _host(value: str) -> object:
    if re.fullmatch(r"[0-9.]+", value):
        raise _fault("RRDATANotAName", "Value is not a domain name", value)
    return _name(value)


def _mx(value: str) -> object:
    fields = value.split(" ")
    if len(fields) != 2:
        raise _fault("MXRRDATANotTwoFields", "MX record doesn't have 2 fields", value)
    if not fields[0].isdecimal() or int(fields[0]) > 65535:
        raise _fault("MXRRDATAInvalidPriority", "MX record priority is invalid", value)
    return int(fields[0]), _name(fields[1])


def _caa(value: str) -> object:
    found = re.fullmatch(r'([0-9]{1,3}) ([A-Za-z0-9]+) "((?:[^"\\]|\\.)*)"', value)
    if found is None or int(found[1]) > 255:
        raise _fault("CAARRDATAInvalid", 'CAA record must be of the form <flags> <tag> "<value>"', value)
    return int(found[1]), found[2].lower(), _unescaped(found[3])


def _txt(value: str) -> object:
    return tuple(strings_of(value))


def _fault(code: str, words: str, value: str) -> ValueFaultError:
    return ValueFaultError(f"Invalid Resource Record: 'FATAL problem: {code} ({words}) encountered with '{value}''")


CHECKS: dict[str, Callable[[str], object]] = {
    "A": _a,
    "AAAA": _aaaa,
    "CNAME": _host,
    "NS": _host,
    "MX": _mx,
    "TXT": _txt,
    "CAA": _caa,
}
