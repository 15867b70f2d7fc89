"""A write that is not read back has an outcome that nobody knows."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from ownership.error import OutcomeUnknownError, RefusedError, UnavailableError
from ownership.write import put, remove
from tests.ownership.test_zone_file import TEXT
from zonemodel.name import Fqdn

NAME = Fqdn("_dnsweaver-state.example.com")


class DeafZone:
    """Takes every write and tells nothing afterwards."""

    zone = Fqdn("example.com")
    txt_value_bytes = len(TEXT)
    enumerates = False

    def __init__(self, trouble: Exception) -> None:
        self.trouble = trouble
        self.written: list[bytes] = []

    async def read_txt(self, name: Fqdn) -> frozenset[bytes]:
        raise self.trouble

    async def add_txt(self, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
        self.written.append(value)

    async def delete_txt(self, name: Fqdn, value: bytes) -> None:
        self.written.append(value)


@pytest.mark.parametrize(
    "trouble", [UnavailableError("no answer"), RefusedError("not for you")], ids=["silence", "refusal"]
)
async def test_a_failed_read_back_is_no_failed_write(trouble: Exception) -> None:
    zone = DeafZone(trouble)
    with pytest.raises(OutcomeUnknownError, match="not read back"):
        await put(zone, NAME, b"value", ())  # type: ignore[arg-type] # all of a backend that a write needs
    with pytest.raises(OutcomeUnknownError, match="not read back"):
        await remove(zone, NAME, b"value")  # type: ignore[arg-type] # all of a backend that a write needs
    assert zone.written == [b"value", b"value"]
