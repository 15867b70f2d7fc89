"""The spelling of options, targets and allow lists, and what is told of those that are wrong."""

from __future__ import annotations

import pytest
import typer

from cli.run.transfer_options import TransferOptions
from server.address import Address
from server.catalog import Catalog
from server.transfer.access import Access
from server.transfer.config import SecondaryZone
from server.transfer.key import key_name
from server.transfer.permission import Permissions
from server.transfer.target import Target, parse_target
from zonemodel.hosted_zone import Transfer
from zonemodel.name import to_wire


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("192.0.2.1", Target(Address("192.0.2.1", 53))),
        ("192.0.2.1:5300", Target(Address("192.0.2.1", 5300))),
        ("2001:db8::1", Target(Address("2001:db8::1", 53))),
        ("[2001:db8::1]", Target(Address("2001:db8::1", 53))),
        ("[2001:db8::1]:5300#Key.Test.", Target(Address("2001:db8::1", 5300), key_name("key.test"))),
        ("192.0.2.1#key", Target(Address("192.0.2.1", 53), key_name("key"))),
        ("fe80::1%eth0", Target(Address("fe80::1%eth0", 53))),
    ],
)
def test_targets(text: str, target: Target) -> None:
    assert parse_target(text) == target
    assert parse_target(str(target)) == target


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ns1.example",
        "192.0.2.1:0",
        "192.0.2.1:65536",
        "[192.0.2.1]:53",
        "192.0.2.1:",
        "1.2.3",
        "192.0.2.1#a..b",
        ":53",
    ],
)
def test_targets_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"allowed is ADDRESS\[:PORT\]\[#KEY\]"):
        parse_target(text)


def test_any_entry_of_an_allow_list_opens() -> None:
    access = Access.parse(["192.0.2.0/24", "2001:db8::1", "key:Transfer.Test"])
    key = key_name("transfer.test")
    assert access.allows("192.0.2.7", None)
    assert access.allows("2001:db8::1", None)
    assert access.allows("198.51.100.1", key)
    assert not access.allows("198.51.100.1", None)
    assert not access.allows("198.51.100.1", key_name("other"))
    assert access.allows("192.0.2.7", key_name("other"))
    assert not Access.parse([])


@pytest.mark.parametrize("entry", ["192.0.2.1/24", "example", "key:", "key:a..b", "192.0.2.0/33", ""])
def test_an_entry_that_is_none_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match="allowed is"):
        Access.parse([entry])


def test_options_for_all_zones_and_for_one() -> None:
    options = TransferOptions(
        secondary=["Pulled.Example=192.0.2.1#k", "pulled.example=192.0.2.2:5300"],
        allow_transfer=["192.0.2.0/24", "shop.example=key:k"],
        notify=["shop.example=192.0.2.9", "[2001:db8::9]:53"],
    )
    config = options.transfer
    assert config.secondaries == (
        SecondaryZone(to_wire("pulled.example"), (parse_target("192.0.2.1#k"), parse_target("192.0.2.2:5300"))),
    )
    shop = Permissions(Catalog(), config).of(to_wire("shop.example"))
    other = Permissions(Catalog(), config).of(to_wire("other.example"))
    assert shop.access.allows("198.51.100.1", key_name("k"))
    assert not other.access.allows("198.51.100.1", key_name("k"))
    assert other.access.allows("192.0.2.1", None)
    assert [str(each) for each in shop.notified] == ["[2001:db8::9]:53", "192.0.2.9:53"]
    assert [str(each) for each in other.notified] == ["[2001:db8::9]:53"]


def test_what_a_source_says_of_transfers_goes_before_options() -> None:
    catalog = Catalog()
    catalog.transfers[to_wire("shop.example")] = Transfer(
        allow=("198.51.100.1", "bad entry"), notify=("bad", "192.0.2.3")
    )
    config = TransferOptions(allow_transfer=["192.0.2.0/24"]).transfer
    shop = Permissions(catalog, config).of(to_wire("shop.example"))
    assert shop.access.allows("198.51.100.1", None)
    assert not shop.access.allows("192.0.2.1", None)
    assert [str(each) for each in shop.notified] == ["192.0.2.3:53"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (TransferOptions(secondary=["shop.example"]), "allowed is ORIGIN=ADDRESS"),
        (TransferOptions(secondary=["=192.0.2.1"]), "allowed is ORIGIN=ADDRESS"),
        (TransferOptions(secondary=["shop.example=ns1"]), "found 'ns1'"),
        (TransferOptions(secondary=["a..b=192.0.2.1"]), "label of 0 octets"),
        (TransferOptions(allow_transfer=["shop.example=anybody"]), "found 'anybody'"),
        (TransferOptions(notify=["nobody"]), "found 'nobody'"),
    ],
)
def test_options_that_are_wrong_are_named(options: TransferOptions, words: str) -> None:
    with pytest.raises(typer.BadParameter, match=words):
        _ = options.transfer
