"""Order does not matter: claims applied in any order end Programmed without being touched again."""

from __future__ import annotations

from itertools import permutations

import pytest

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from tests.product.claim import ZONE, ZONE_CLASS, claim, zone, zone_class
from tests.product.stage import Stage, condition

WWW = claim("www", "A", "192.0.2.1")
SEEN = {
    "ZoneClass": (ZONE_CLASSES, ZONE_CLASS),
    "Zone": (ZONES, ZONE),
    "RecordSet": (RECORD_SETS, WWW.name),
}
ORDERS = list(permutations(SEEN))


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("pace", ["in one go", "one after the other"])
async def test_every_order_ends_programmed(stage: Stage, order: tuple[str, ...], pace: str) -> None:
    manifests = {"ZoneClass": zone_class(), "Zone": zone(stage.domain), "RecordSet": WWW.manifest()}
    for kind in order:
        await stage.apply(manifests[kind])
        if pace == "one after the other":
            ref, name = SEEN[kind]
            await stage.until_there(ref, name, lambda obj: condition(obj, "Accepted") is not None)
    for ref, name in (SEEN["Zone"], SEEN["RecordSet"]):
        obj = await stage.until_programmed(ref, name)
        assert obj["metadata"]["generation"] == 1
    stage.assert_answered([WWW])


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
async def test_every_order_of_deletion_ends_with_nothing(stage: Stage, order: tuple[str, ...]) -> None:
    await stage.set_up(WWW)
    for kind in order:
        await stage.delete(*SEEN[kind])
    await stage.until_nothing_remains()
    assert stage.rcode("www", "A") == "REFUSED"
