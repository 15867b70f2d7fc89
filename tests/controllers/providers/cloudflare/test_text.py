"""TXT contents are read whatever their form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.providers.cloudflare.text import quote, readings
from tests.controllers.providers.cloudflare.fake.record import TextForm, shown

PRINTABLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=700)


@given(PRINTABLE, st.sampled_from(TextForm))
def test_what_was_sent_is_recognised_in_every_form(text: str, form: TextForm) -> None:
    read_back = shown({"type": "TXT", "content": quote(text)}, form)["content"]
    assert text.encode() in readings(read_back)


@given(st.text(min_size=1, max_size=300))
def test_any_text_survives_quoting(text: str) -> None:
    assert readings(quote(text))[0] == text.encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('"one" "two"', b"onetwo"),
        ("one two", b"one two"),
        (r'"say \"so\""', b'say "so"'),
        (r'"\\\044"', b"\\,"),
        ('"open', b'"open'),
        ("", b""),
        ('""', b""),
    ],
)
def test_forms_of_a_content(content: str, said: bytes) -> None:
    assert readings(content)[0] == said


def test_long_texts_are_split_where_dns_needs_it() -> None:
    assert quote("a" * 256) == f'"{"a" * 255}" "a"'
