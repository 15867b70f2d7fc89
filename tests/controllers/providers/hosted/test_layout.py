"""How content lies in HostedZones: a server puts it together again, and an edit moves no more than its page."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.providers.hosted.content import as_written
from controllers.providers.hosted.layout import Layout, lay_out, page_count_of
from tests.controllers.providers.hosted.build import DOMAIN, head, items_of
from tests.controllers.providers.hosted.world import item
from zonemodel.hosted_zone import HostedZoneSpec, Page, PageRef
from zonemodel.snapshot import Snapshot, assemble

BULK = "x" * 3000


def laid_out(items: list[dict[str, Any]], count: int = 0, before: Layout | None = None) -> Layout:
    return lay_out("zone", head(), as_written([items_of(*items)]), count, before)


def text(number: int, word: str = "") -> dict[str, Any]:
    found = item(f"t{number}", type="TXT", txt={"values": [f"{word}{BULK}"]})
    del found["a"]
    return found


def reassembled(layout: Layout) -> Snapshot:
    """What a name server makes of the objects."""
    spec = HostedZoneSpec(
        domain_name=DOMAIN,
        serial=1,
        soa=layout.head.soa,
        name_servers=layout.head.name_servers,
        transfer=layout.head.transfer,
        digest=layout.digest,
        record_sets=tuple(line.record for line in layout.inline),
        pages=tuple(PageRef(name=page.name, digest=page.digest) for page in layout.pages),
    )
    pages = {
        page.name: Page(zone="zone", digest=page.digest, record_sets=tuple(line.record for line in page.lines))
        for page in layout.pages
    }
    snapshot = assemble(spec, pages)
    assert isinstance(snapshot, Snapshot)
    return snapshot


@settings(max_examples=30, deadline=None)
@given(numbers=st.sets(st.integers(0, 400), max_size=120), count=st.sampled_from([0, 1, 2, 4]))
def test_server_accepts_every_layout(numbers: set[int], count: int) -> None:
    layout = laid_out([text(number) for number in sorted(numbers)], count)
    names = {each.name for each in reassembled(layout).record_sets}
    assert names == {f"t{number}" for number in numbers}


def test_small_zone_stands_inline_and_a_large_one_in_pages() -> None:
    assert laid_out([text(1)]).pages == ()
    large = laid_out([text(number) for number in range(300)])
    assert large.inline == ()
    assert len(large.pages) == large.page_count == 4
    assert page_count_of(len(large.pages)) == large.page_count


def test_edit_renews_one_page_and_keeps_the_others_as_they_are() -> None:
    items = [text(number) for number in range(300)]
    before = laid_out(items)
    items[17] = text(17, "edited")
    after = laid_out(items, before.page_count, before)
    assert after == laid_out(items, before.page_count), "former pages are only a shortcut"
    assert after.digest != before.digest
    assert sum(a != b for a, b in zip(before.pages, after.pages, strict=True)) == 1
    reassembled(after)


def test_empty_zone_has_a_snapshot_too() -> None:
    assert list(reassembled(laid_out([])).record_sets) == []
