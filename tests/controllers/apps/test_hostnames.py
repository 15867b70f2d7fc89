"""Odd lists of hostnames: what is published of them, and what is told of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from controllers.api.endpoint import HOSTNAMES_LIMIT, EndpointReason
from controllers.apps.hostname_list import object_to_hostname
from controllers.apps.registry import AppsConfig
from controllers.apps.service.source import HOSTNAMES_ANNOTATION, SERVICES, hostnames_of
from kube.errors import Invalid
from tests.controllers.apps.conftest import NAMESPACE, World
from tests.controllers.apps.shelf import READY, Shelf
from tests.controllers.ledger.notebook import Notebook


@pytest.mark.parametrize(
    ("text", "published", "told"),
    [
        ("", (), {}),
        (" ,, ,\n", (), {}),
        (" a.test , a.test,b.test", ("a.test", "b.test"), {}),
        ("Shop.test", (), {"Shop.test": "lowercase"}),
        ("shop.test.", (), {"shop.test.": "end in a dot"}),
        ("bücher.test,xn--bcher-kva.test", ("xn--bcher-kva.test",), {"bücher.test": "xn-- form"}),
        ("*.test,*.a.test", ("*.a.test", "*.test"), {}),
        ("*,a.*.test,*.*.test", (), {"*": "label", "a.*.test": "label", "*.*.test": "label"}),
        ("a.test\nb.test", (), {"a.test\nb.test": "label"}),
        (
            f"{'a' * 64}.test,-a.test,a..test",
            (),
            {f"{'a' * 64}.test": "64", "-a.test": "hyphen", "a..test": "empty label"},
        ),
        ("a." * 130 + "test", (), {("a." * 130)[:253]: "255"}),
    ],
)
def test_an_annotation_is_read_to_the_letter(text: str, published: tuple[str, ...], told: dict[str, str]) -> None:
    found = hostnames_of({HOSTNAMES_ANNOTATION: text})
    assert found.published == published
    assert {each.hostname for each in found.left_out} == set(told)
    for each in found.left_out:
        assert each.reason is EndpointReason.INVALID_HOSTNAME
        assert told[each.hostname] in each.message


def test_the_label_of_a_wildcard_counts() -> None:
    longest = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert object_to_hostname(longest) is None
    assert object_to_hostname(f"*.{longest}") is not None
    assert object_to_hostname(f"*.{longest[2:]}") is None


async def test_a_wildcard_that_is_too_long_leaves_the_other_hostnames_alone(world: World) -> None:
    too_long = "*." + ".".join(["a" * 63] * 3 + ["b" * 56, "test"])
    await world.zone("zone", "test")
    await world.service("shop", f"shop.test,{too_long}", "192.0.2.1")
    await world.until_records(("shop", "A", "192.0.2.1"))
    with pytest.raises(Invalid, match=r"spec\.hostnames"):
        await world.endpoint("one", ["one.test", too_long])


def test_more_hostnames_than_an_endpoint_has_are_told() -> None:
    text = ",".join(f"h{number:03}.test" for number in range(HOSTNAMES_LIMIT + 2))
    found = hostnames_of({HOSTNAMES_ANNOTATION: text})
    assert len(found.published) == HOSTNAMES_LIMIT
    assert {each.hostname for each in found.left_out} == {"h500.test", "h501.test"}
    assert {each.reason for each in found.left_out} == {EndpointReason.TOO_MANY_HOSTNAMES}


async def test_of_two_sources_of_a_hostname_the_first_has_it_and_the_other_waits(tmp_path: Path) -> None:
    async with Shelf(tmp_path, AppsConfig(gateway=True), Notebook()) as shelf:
        await shelf.page("zone", "example.test", READY)
        await shelf.service("shop", "app.example.test", "192.0.2.1")
        await shelf.until_programmed("app")
        await shelf.gateway("edge", "192.0.2.2")
        await shelf.route("one", "edge", "app.example.test")
        first, second = ("app", "A", "192.0.2.1"), ("app", "A", "192.0.2.2")
        await shelf.until_records(first, second)
        await shelf.until_conflict()
        await shelf.client.delete(SERVICES, namespace=NAMESPACE, name="shop")
        await shelf.until_records(second)
        await shelf.until_programmed("app")
