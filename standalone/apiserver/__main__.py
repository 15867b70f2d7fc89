"""Runs the API server alone: `python -m standalone.apiserver --data-dir DIR [--host ADDRESS] [--port N]`.

Prints the URL when it is ready and stops on SIGINT or SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

import structlog

from kube.log_stream import standard_error
from standalone.apiserver.server import ApiServer, ListenError
from standalone.store.failure import DataDirError


async def serve(server: ApiServer) -> None:
    """Run until a signal asks to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, stop.set)
    async with server:
        print(server.url, flush=True)
        await stop.wait()


def main() -> int:
    """Parse the arguments and serve; 1 when the server cannot start."""
    parser = argparse.ArgumentParser(prog="python -m standalone.apiserver", description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="where objects are kept")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    arguments = parser.parse_args()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(file=standard_error()),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,  # not the values of everything, as is the default
            structlog.dev.ConsoleRenderer(colors=False),
        ],
    )
    try:
        asyncio.run(serve(ApiServer(arguments.data_dir, arguments.host, arguments.port)))
    except (DataDirError, ListenError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
