"""Policies of ZoneClasses whose providers make and delete the zones of others' services."""

from __future__ import annotations

from enum import StrEnum


class CreationPolicy(StrEnum):
    """Whether zones may be created at the provider."""

    CREATE = "Create"
    DENY = "Deny"


class DeletionPolicy(StrEnum):
    """What becomes of the zone at the provider when its Zone is deleted."""

    DELETE = "Delete"
    RETAIN = "Retain"
