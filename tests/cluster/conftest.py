"""Tests on a real control plane; without its programs there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.control_plane import programs as named_programs


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of kube-apiserver, etcd and kube-controller-manager."""
    if (named := named_programs()) is None:
        pytest.skip("needs a real control plane: DNS_API_KUBE_PROGRAMS")
    return named
