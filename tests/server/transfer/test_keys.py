"""TSIG keys from files, as tools write them and as Kubernetes mounts them."""

from __future__ import annotations

import base64
import errno
import subprocess
from pathlib import Path

import pytest

from server.transfer.key import Algorithm, Key, KeyFileError, key_name, parse_keys, read_keys
from server.transfer.key_store import KeyStore

SECRET = "c2VjcmV0IG9mIHRyYW5zZmVycw=="
OCTETS = b"secret of transfers"


def parsed(text: str) -> list[Key]:
    return list(parse_keys(text, "keys"))


@pytest.mark.parametrize(
    "text",
    [
        f"hmac-sha512:One.Test:{SECRET}",
        f"\n  HMAC-SHA512:one.test.:{SECRET}  \n",
        f'key "one.test" {{ algorithm hmac-sha512; secret "{SECRET}"; }};',
        f"key one.test. {{\n\talgorithm hmac-sha512;\n\tsecret {SECRET};\n}};\n",
        f'# a comment\n/* another */ key "one.test" {{ secret "{SECRET}"; algorithm "HMAC-SHA512."; }}; // and more',
    ],
)
def test_both_spellings_of_a_key_are_read(text: str) -> None:
    assert parsed(text) == [Key(key_name("one.test"), Algorithm.HMAC_SHA512, OCTETS)]


@pytest.mark.parametrize("secret", ["//8BAgMEBQY=", "AQID//8EBQY=", "AAECAwQF//8=", "/////////w=="])
@pytest.mark.parametrize(
    "form",
    [
        "hmac-sha256:a:{}",
        "hmac-sha256:a:{} // two slashes",
        "hmac-sha256:a:{}# a hash",
        'key "a" {{ algorithm hmac-sha256; secret "{}"; }};//',
        'key "a" {{//\nalgorithm hmac-sha256;// what\n secret "{}"; // a secret\n}};',
    ],
)
def test_two_slashes_in_a_secret_begin_no_comment(form: str, secret: str) -> None:
    (key,) = parsed(form.format(secret))
    assert key.secret == base64.b64decode(secret)


def test_what_bind_generates_is_read() -> None:
    text = subprocess.run(["/usr/sbin/tsig-keygen", "made.test"], capture_output=True, text=True, check=True).stdout
    (key,) = parsed(text)
    assert key.name == key_name("made.test")
    assert len(key.secret) == 32


def test_a_file_may_hold_many_keys() -> None:
    text = f'hmac-sha256:a:{SECRET}\nkey "b" {{ algorithm hmac-sha384; secret "{SECRET}"; }};\nhmac-sha256:c:{SECRET}'
    assert {key.name: key.algorithm.hash_name for key in parsed(text)} == {
        key_name("a"): "sha256",
        key_name("b"): "sha384",
        key_name("c"): "sha256",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "found no key"),
        ("just words", "another form"),
        (f"hmac-md5:a:{SECRET}", "algorithm 'hmac-md5', allowed are hmac-sha256, hmac-sha384, hmac-sha512"),
        ("hmac-sha256:a:!!!", "not Base64"),
        ("hmac-sha256:a:", "empty secret"),
        (f"hmac-sha256:a..b:{SECRET}", "name that is none"),
        ('key "a" { algorithm hmac-sha256; };', "empty secret"),
    ],
)
def test_what_is_no_key_is_told_without_the_secret(text: str, words: str) -> None:
    with pytest.raises(KeyFileError, match=words) as raised:
        parsed(text)
    assert SECRET not in str(raised.value)


def test_a_secret_does_not_show() -> None:
    (key,) = parsed(f"hmac-sha256:a:{SECRET}")
    assert "secret" not in repr(key)


def test_a_mounted_secret_is_a_folder_with_hidden_parts(tmp_path: Path) -> None:
    (tmp_path / "..2026").mkdir()
    (tmp_path / "..2026" / "one").write_text(f"hmac-sha256:one:{SECRET}")
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "one").symlink_to("..data/one")
    (tmp_path / "two").write_text(f"hmac-sha256:two:{SECRET}")
    assert set(read_keys([tmp_path])) == {key_name("one"), key_name("two")}


def test_a_name_has_one_key(tmp_path: Path) -> None:
    for file, secret in (("a", SECRET), ("b", SECRET), ("c", "b3RoZXI=")):
        (tmp_path / file).write_text(f"hmac-sha256:one:{secret}")
    assert len(read_keys([tmp_path / "a", tmp_path / "b"])) == 1
    with pytest.raises(KeyFileError, match=r"key one\. differs from that in"):
        read_keys([tmp_path])


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot read the key file"):
        read_keys([tmp_path / "absent"])
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(KeyFileError, match="not UTF-8"):
        read_keys([tmp_path / "binary"])


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(KeyFileError, match=f"cannot read the key folder {tmp_path}: Permission denied"):
        read_keys((tmp_path,))
    KeyStore((tmp_path,)).reload()


def test_keys_that_break_later_stay_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"hmac-sha256:one:{SECRET}")
    store = KeyStore([file])
    store.load()
    file.write_text("nonsense")
    store.reload()
    assert store.get(key_name("one")) is not None
    file.write_text(f"hmac-sha256:two:{SECRET}")
    store.reload()
    assert store.get(key_name("one")) is None
    assert store.get(key_name("two")) is not None
