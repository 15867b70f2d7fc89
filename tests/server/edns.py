"""EDNS options in tests: queries that carry them, and those that a reply carries."""

from __future__ import annotations

import dns.edns
import dns.message

from tests.server.question import Target

NSID, COOKIE, KEEPALIVE, PADDING, EDE = 3, 10, 11, 12, 15
UNKNOWN = 65001


def with_options(*options: tuple[int, bytes], name: str = "short.ent.test.", rdtype: str = "A") -> dns.message.Message:
    found: list[dns.edns.Option] = [
        dns.edns.GenericOption(dns.edns.OptionType.make(code), data) for code, data in options
    ]
    return dns.message.make_query(name, rdtype, flags=0, use_edns=0, options=found)


def options_of(reply: dns.message.Message) -> dict[int, bytes]:
    """The options of a reply; each comes once."""
    found = {int(option.otype): option.to_wire() or b"" for option in reply.options}
    assert len(found) == len(reply.options)
    return found


def ask(target: Target, *options: tuple[int, bytes], tcp: bool = False) -> dict[int, bytes]:
    """Ask for a name that exists, with options; return those of the reply."""
    reply = target.send(with_options(*options), tcp=tcp)
    assert reply.answer
    return options_of(reply)
