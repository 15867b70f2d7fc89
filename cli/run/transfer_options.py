"""The options of `dns-api server` that are about zone transfers.

Owns their spelling and the checks that need more than one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from server.transfer.access import Access
from server.transfer.config import SecondaryZone, TransferConfig
from server.transfer.target import Target, parse_target
from zonemodel.hosted_zone import Transfer
from zonemodel.name import WireName, to_wire

TsigKeys = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE|DIR",
        help="File of TSIG keys, or folder of such files; read again when it changes; may be repeated.",
    ),
]


@dataclass(frozen=True, slots=True)
class TransferOptions:
    """Who may have zones, who is told of changes, and which zones come from elsewhere."""

    secondary: Annotated[
        list[str] | None,
        typer.Option(
            help="Zone to pull from a primary server; repeated for a zone, its further primaries.",
            metavar="ORIGIN=ADDRESS[:PORT][#KEY]",
        ),
    ] = None
    allow_transfer: Annotated[
        list[str] | None,
        typer.Option(
            help="Who may transfer zones that do not come from the API, or the one of them that is named; may be repeated.",
            metavar="[ORIGIN=]NETWORK|key:NAME",
        ),
    ] = None
    notify: Annotated[
        list[str] | None,
        typer.Option(
            help="Whom to tell of changes of these zones; may be repeated.", metavar="[ORIGIN=]ADDRESS[:PORT][#KEY]"
        ),
    ] = None
    tsig_keys: TsigKeys = None

    @property
    def transfer(self) -> TransferConfig:
        """What the server is told; raises typer.BadParameter."""
        allowed = _by_origin(self.allow_transfer, "--allow-transfer", lambda text: Access.parse((text,)))
        notified = _by_origin(self.notify, "--notify", parse_target)
        transfers = {
            origin: Transfer(allow=tuple(allowed.get(origin, ())), notify=tuple(notified.get(origin, ())))
            for origin in {None, *allowed, *notified}
        }
        return TransferConfig(
            key_files=tuple(self.tsig_keys or ()),
            every_zone=transfers[None],
            zones={origin: transfer for origin, transfer in transfers.items() if origin is not None},
            secondaries=self._secondaries(),
        )

    def _secondaries(self) -> tuple[SecondaryZone, ...]:
        primaries: dict[WireName, list[Target]] = {}
        for text in self.secondary or ():
            origin, _, address = text.partition("=")
            if not origin or not address:
                raise typer.BadParameter(
                    f"found {text!r}, allowed is ORIGIN=ADDRESS[:PORT][#KEY]", param_hint="--secondary"
                )
            try:
                primaries.setdefault(_origin(origin), []).append(parse_target(address))
            except ValueError as error:
                raise typer.BadParameter(str(error), param_hint="--secondary") from error
        return tuple(SecondaryZone(origin, tuple(targets)) for origin, targets in primaries.items())


def _by_origin(
    texts: list[str] | None, option: str, check: Callable[[str], object]
) -> dict[WireName | None, list[str]]:
    """Return the entries of a repeated option by the zone that they name, None for all zones."""
    found: dict[WireName | None, list[str]] = {}
    for text in texts or ():
        origin, equals, entry = text.rpartition("=")
        try:
            check(entry)
            found.setdefault(_origin(origin) if equals else None, []).append(entry)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint=option) from error
    return found


def _origin(text: str) -> WireName:
    return to_wire(text.lower())
