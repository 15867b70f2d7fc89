"""The log of the long-running commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys

PROGRAM = """
import logging
from cli.run.logs import LogFormat, LogLevel, configure_logs
configure_logs(form=LogFormat.JSON, level=LogLevel.INFO)
for _ in range(3000):
    logging.getLogger("library").warning("hear %s", "this")
"""


def test_libraries_log_in_the_same_form_and_wait_for_no_reader_either() -> None:
    reading, writing = os.pipe()
    subprocess.run([sys.executable, "-c", PROGRAM], stderr=writing, check=True, timeout=60)
    os.close(writing)
    line = json.loads(os.read(reading, 1_000_000).splitlines()[0])
    os.close(reading)
    assert (line["event"], line["level"]) == ("hear this", "warning")
