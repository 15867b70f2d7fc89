"""Which data plane a server uses: the native one where it is built and not turned off.

Owns that choice and the log line about it. Never answers anything.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Final

import structlog

from server.config import ServerConfig
from server.plane.python import PythonPlane

PURE_PYTHON: Final = "DNS_API_PURE_PYTHON"
"""The environment variable that, set to 1, keeps the extension out of use."""

log = structlog.get_logger(__name__)


def make_plane(config: ServerConfig) -> PythonPlane:
    """Return the parts for one server."""
    if os.environ.get(PURE_PYTHON) == "1" or not has_native():
        return PythonPlane()
    from server.plane.native import NativePlane  # importing it needs the extension

    return NativePlane(config)


@cache
def has_native() -> bool:
    """Say whether the extension is built; the log says so once when it is not."""
    try:
        import server._native  # noqa: F401
    except ImportError as error:
        log.warning("the native data plane is not built, Python answers alone", reason=str(error))
        return False
    return True
