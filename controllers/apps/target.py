"""What an object is reached by, as its status tells it: targets that can be published, and what is none. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from controllers.api.endpoint import TARGETS_LIMIT, Target, TargetType
from zonemodel.name import object_to_target

SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class Targets:
    """As many targets as an endpoint has, each once and in order; `faults` say what else is told and why it is no target."""

    good: tuple[Target, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def unknown(self) -> bool:
        """Whether there must be something, but nothing that can be read: that is another thing than nothing."""
        return bool(self.faults) and not self.good


def read_targets(addresses: Iterable[str], names: Iterable[str]) -> Targets:
    """Return the targets among addresses and names; addresses win over names, since it can be reached by them.

    Addresses may have any form, names any case and a last dot. Nobody promises an order, and one that changes is no change.
    """
    faults: list[str] = []
    found = {TargetType.IP_ADDRESS: list[str](), TargetType.HOSTNAME: list[str]()}
    for address in addresses:
        try:
            canonical = str(ip_address(address))
        except ValueError:
            canonical = "%"
        if "%" in canonical:
            faults.append(f"{address[:SHOWN_CHARS]!r} is no IPv4 or IPv6 address without a zone")
        else:
            found[TargetType.IP_ADDRESS].append(canonical)
    for name in names:
        lower = name.lower().removesuffix(".")
        if fault := object_to_target(lower):
            faults.append(f"{name[:SHOWN_CHARS]!r} is no name of a host: it {fault}")
        else:
            found[TargetType.HOSTNAME].append(lower)
    kind = TargetType.IP_ADDRESS if found[TargetType.IP_ADDRESS] else TargetType.HOSTNAME
    values = sorted(set(found[kind]))
    faults += (f"{each} is one more target than an endpoint has, {TARGETS_LIMIT}" for each in values[TARGETS_LIMIT:])
    return Targets(tuple(Target(type=kind, value=each) for each in values[:TARGETS_LIMIT]), tuple(faults))
