"""What makes hosted ZoneClass parameters wrong, all of it at once, by field path.

The Provider's schema catches most of it at admission; this is the controller's own word, which stands when admission was not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from controllers.core.providercontract.fault import Fault, FaultReason, describe
from controllers.providers.hosted.parameters import Parameters
from zonemodel.name import object_to_domain, object_to_target

PATH: Final = "spec.parameters"
KEY_PREFIX: Final = "key:"
ADDRESS: Final = "an IPv4 or IPv6 address"
ALLOW: Final = f"{ADDRESS}, a prefix such as 192.0.2.0/24 without host bits, or key:<name>"
NOTIFY: Final = f"{ADDRESS}, with a port as 192.0.2.1:5300 or [2001:db8::1]:5300 when it is not 53"

_WITH_PORT: Final = re.compile(r"(?:\[(?P<v6>[^\]]+)\]|(?P<v4>[0-9.]+)):(?P<port>[0-9]{1,5})\Z")
_TYPE_WORDS: Final = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "string_type": "a text",
    "tuple_type": "a list",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
}


def parse_parameters(payload: Mapping[str, Any] | None) -> Parameters | tuple[Fault, ...]:
    """Return the parameters, or every fault of the payload; a null counts as left out."""
    try:
        parameters = Parameters.model_validate_json(orjson.dumps(_without_nulls(payload or {})), strict=True)
    except ValidationError as error:
        return tuple(_fault_of_shape(each) for each in error.errors(include_url=False) if not _is_echo(each))
    return tuple(_faults(parameters)) or parameters


def _faults(parameters: Parameters) -> Iterator[Fault]:
    yield from _name_server_faults(parameters)
    yield from _soa_faults(parameters)
    yield from _each_once(f"{PATH}.transfer.allow", parameters.transfer.allow, ALLOW, _network)
    yield from _each_once(f"{PATH}.transfer.notify", parameters.transfer.notify, NOTIFY, _target)


def _name_server_faults(parameters: Parameters) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for index, server in enumerate(parameters.name_servers):
        path = f"{PATH}.nameServers[{index}]"
        if objection := object_to_domain(server.name):
            yield Fault(f"{path}.name", describe(server.name), f"a domain name; it {objection}")
        elif server.name in first:
            same = f"each name once; it is the same as {PATH}.nameServers[{first[server.name]}].name"
            yield Fault(f"{path}.name", describe(server.name), same, FaultReason.DUPLICATE)
        first.setdefault(server.name, index)
        yield from _each_once(f"{path}.addresses", server.addresses, ADDRESS, _address)


def _soa_faults(parameters: Parameters) -> Iterator[Fault]:
    soa = parameters.soa
    if soa.mname is not None and (objection := object_to_domain(soa.mname)):
        yield Fault(f"{PATH}.soa.mname", describe(soa.mname), f"a domain name; it {objection}")
    if soa.rname is not None and (objection := object_to_target(soa.rname)):
        hint = ", with a dot where a mail address has the @" if "@" in soa.rname else ""
        yield Fault(f"{PATH}.soa.rname", describe(soa.rname), f"a mailbox as a domain name{hint}; it {objection}")
    if soa.minimum is not None and parameters.negative_ttl not in (None, soa.minimum):
        other = f"the same as {PATH}.soa.minimum, which is {soa.minimum}, or only one of them"
        yield Fault(f"{PATH}.negativeTTL", describe(parameters.negative_ttl), other)


def _each_once(path: str, texts: tuple[str, ...], allowed: str, parse: Callable[[str], object]) -> Iterator[Fault]:
    """Object to texts that `parse` refuses with ValueError, and to those that mean the same as an earlier one."""
    first: dict[object, int] = {}
    for index, text in enumerate(texts):
        try:
            meaning = parse(text)
        except ValueError:
            yield Fault(f"{path}[{index}]", describe(text), allowed)
            continue
        if meaning in first:
            same = f"each entry once; it is the same as {path}[{first[meaning]}]"
            yield Fault(f"{path}[{index}]", describe(text), same, FaultReason.DUPLICATE)
        first.setdefault(meaning, index)


def _address(text: str) -> IPv4Address | IPv6Address:
    if "%" in text:
        raise ValueError("a scope means something on one host only")
    return ip_address(text)


def _network(text: str) -> object:
    if text.startswith(KEY_PREFIX):
        name = text.removeprefix(KEY_PREFIX)
        if objection := object_to_target(name):
            raise ValueError(objection)
        return text
    _address(text.partition("/")[0])
    return ip_network(text)


def _target(text: str) -> object:
    found = _WITH_PORT.match(text)
    if found is None:
        return _address(text), 53
    address, port = _address(found["v6"] or found["v4"]), int(found["port"])
    if not 1 <= port <= 65535 or (found["v6"] is not None) != (address.version == 6):
        raise ValueError(text)
    return address, port


def _is_echo(error: ErrorDetails) -> bool:
    """Say whether a list is called too short only because its items, which are faults of their own, were not counted."""
    return error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]


def _fault_of_shape(error: ErrorDetails) -> Fault:
    path = PATH + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"])
    kind, limits = error["type"], error.get("ctx", {})
    match kind:
        case "missing":
            return Fault(path, "nothing", "a value, since the field is required", FaultReason.REQUIRED)
        case "extra_forbidden":
            return Fault(path, describe(error["input"]), "nothing, since there is no such field", FaultReason.FORBIDDEN)
        case "too_short":
            return Fault(path, describe(error["input"]), f"at least {limits['min_length']} item", FaultReason.REQUIRED)
        case "too_long":
            return Fault(path, describe(error["input"]), f"at most {limits['max_length']} items", FaultReason.TOO_MANY)
        case "greater_than_equal":
            return Fault(path, describe(error["input"]), f"{limits['ge']} or more")
        case "less_than_equal":
            return Fault(path, describe(error["input"]), f"{limits['le']} or less")
    return Fault(path, describe(error["input"]), _TYPE_WORDS.get(kind, error["msg"]), FaultReason.TYPE_INVALID)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(child) for key, child in value.items() if child is not None}
    if isinstance(value, list | tuple):
        return [_without_nulls(child) for child in value]
    return value
