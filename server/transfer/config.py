"""What a name server is told about transfers at its start.

Owns defaults. Never reads files or flags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from server.transfer.target import Target
from zonemodel.hosted_zone import Transfer
from zonemodel.name import WireName


@dataclass(frozen=True, slots=True)
class SecondaryZone:
    """A zone that is pulled from other servers; the first of `primaries` that has it will do."""

    origin: WireName
    primaries: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class TransferConfig:
    """`key_files` are files and folders of TSIG keys.

    `every_zone` and, beside it, `zones` say who may transfer the zones whose source does not say it, and who is told of their changes:
    those of master files and of `secondaries`. At most `outgoing` transfers go on at once, `outgoing_per_client` of them to one
    client, and `incoming` from primaries, `incoming_per_primary` of them from one.
    """

    key_files: tuple[Path, ...] = ()
    every_zone: Transfer = field(default_factory=Transfer)
    zones: Mapping[WireName, Transfer] = field(default_factory=dict)
    secondaries: tuple[SecondaryZone, ...] = ()
    outgoing: int = 16
    outgoing_per_client: int = 4
    incoming: int = 16
    incoming_per_primary: int = 4
