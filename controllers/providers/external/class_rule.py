"""Whether a ZoneClass of ours can be followed: it has no identity, and parameters that mean something.

Pure. All faults are told at once, by field path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from pydantic import ValidationError

from controllers.api.verdict import Verdict
from controllers.api.zone_class import ZoneClass
from controllers.core.providercontract.fault import Fault, FaultReason, describe
from controllers.ledger.class_rule import invalid_parameters, object_to_identity
from controllers.probe.address import Address, ServerName, parse_server
from controllers.providers.external.parameters import Parameters, Settings, parse_duration

PATH: Final = "spec.parameters"
SHORTEST_INTERVAL_S: Final = 10
LONGEST_INTERVAL_S: Final = 86_400
LONGEST_TIMEOUT_S: Final = 30
RESOLVER: Final = "the address of a resolver, with :port if it is not 53"

T = TypeVar("T", bound=Address | ServerName)


def judge_parameters(zone_class: ZoneClass) -> Settings | Verdict:
    """Return the settings of a class in the storage version, or what stands against it."""
    if objection := object_to_identity(zone_class):
        return objection
    try:
        parameters = Parameters.model_validate(zone_class.spec.parameters or {}, strict=False)
    except ValidationError as error:
        return invalid_parameters(_shape_faults(error))
    faults: list[Fault] = []
    settings = Settings(
        name_servers=tuple(_each("nameServers", parameters.name_servers, _server, faults)),
        resolvers=tuple(_each("resolvers", parameters.resolvers, _resolver, faults)),
        interval_s=_bounded(
            "probeInterval", parameters.probe_interval, SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S, faults
        ),
        timeout_s=_bounded("probeTimeout", parameters.probe_timeout, 1, LONGEST_TIMEOUT_S, faults),
        require_all=parameters.require_all_servers,
        deletion_policy=parameters.deletion_policy,
    )
    return invalid_parameters(faults) if faults else settings


def _each(name: str, texts: tuple[str, ...], parse: Callable[[str], T], faults: list[Fault]) -> Iterator[T]:
    """Yield what the texts mean, each once; what means nothing is a fault."""
    first: dict[T, int] = {}
    for index, text in enumerate(texts):
        path = f"{PATH}.{name}[{index}]"
        try:
            meaning = parse(text)
        except ValueError as error:
            faults.append(Fault(path, describe(text), str(error).partition("allowed: ")[2]))
            continue
        if meaning in first:
            same = f"each server once; it is the same as {PATH}.{name}[{first[meaning]}]"
            faults.append(Fault(path, describe(text), same, FaultReason.DUPLICATE))
            continue
        first[meaning] = index
        yield meaning


def _server(text: str) -> Address | ServerName:
    return parse_server(text)


def _resolver(text: str) -> Address:
    found = parse_server(text)
    if isinstance(found, ServerName):
        raise ValueError(f"found {text!r}, allowed: {RESOLVER}")
    return found


def _bounded(name: str, text: str, low_s: int, high_s: int, faults: list[Fault]) -> int:
    allowed = f"a duration of {low_s} s to {high_s} s, such as 90s, 5m or 1h30m"
    try:
        found_s = parse_duration(text)
    except ValueError:
        found_s = -1
    if not low_s <= found_s <= high_s:
        faults.append(Fault(f"{PATH}.{name}", describe(text), allowed))
    return found_s


def _shape_faults(error: ValidationError) -> Iterator[Fault]:
    for each in error.errors(include_url=False):
        path = PATH + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in each["loc"])
        if each["type"] == "extra_forbidden":
            yield Fault(path, describe(each["input"]), "nothing, since there is no such field", FaultReason.FORBIDDEN)
        else:
            message = each["msg"]
            yield Fault(path, describe(each["input"]), message[0].lower() + message[1:], FaultReason.TYPE_INVALID)
