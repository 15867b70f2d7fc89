"""The embedded API server with a history that is compacted after a few hundred writes: `… --data-dir DIR --port N`."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from standalone.apiserver.__main__ import serve
from standalone.apiserver.server import ApiServer
from standalone.store.limits import Limits

EVENTS = 300

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    limits = Limits(history_events=EVENTS, compact_every_events=50)
    asyncio.run(serve(ApiServer(arguments.data_dir, port=arguments.port, limits=limits)))
