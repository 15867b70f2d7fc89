"""Property tests have neither a deadline nor a pace to keep: on a busy machine an example may take long without anything being wrong."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
