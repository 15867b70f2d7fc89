"""The log of the long-running commands: nothing waits for whoever reads it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from kube.log_stream import UnhurriedStream


def test_lines_that_nobody_takes_are_left_out_and_counted() -> None:
    reading, writing = os.pipe()
    stream, lines = UnhurriedStream(writing), [f"{number:05} {'x' * 90}\n" for number in range(2000)]
    for line in lines:
        stream.write(line)
    taken = os.read(reading, 1_000_000).decode().splitlines(keepends=True)
    assert 0 < len(taken) < len(lines)
    assert taken == lines[: len(taken)]
    stream.write("again\n")
    assert os.read(reading, 1000).decode() == f"{len(lines) - len(taken)} lines of the log were left out\nagain\n"
    os.close(reading)
    stream.write("nobody is there\n")
    os.close(writing)


def test_a_slow_reader_is_not_waited_for_again_and_again() -> None:
    reading, writing = os.pipe()
    stream = UnhurriedStream(writing)
    begun_s = time.monotonic()
    for _ in range(40):
        stream.write("x" * 100_000 + "\n")
        os.read(reading, 8192)
    assert time.monotonic() - begun_s < 1
    os.close(reading)
    os.close(writing)


def test_a_line_that_is_cut_short_ends_before_the_next() -> None:
    reading, writing = os.pipe()
    stream = UnhurriedStream(writing)
    stream.write("x" * 1_000_000 + "\n")
    assert set(os.read(reading, 1_000_000)) == {ord("x")}
    stream.write("next\n")
    assert os.read(reading, 1000) == b"\nnext\n"
    os.close(reading)
    os.close(writing)


def test_a_file_takes_everything(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as file:
        UnhurriedStream(file.fileno()).write("x" * 1_000_000 + "\n")
    assert (tmp_path / "log").stat().st_size == 1_000_001
