"""Kinds that a provider brings along, such as its identity: their definition, and what admission says of them beyond their schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controllers.api.crd import Kind
from controllers.core.providercontract.fault import Fault

Judge = Callable[[Mapping[str, Any], Mapping[str, Any] | None], Sequence[Fault]]
"""Names every fault of an object, given as API JSON together with its former state (None when it is being created)."""


@dataclass(frozen=True, slots=True)
class OwnKind:
    """One kind. `judge_spec` is asked when spec is new or has changed, `judge_status` likewise; None asks nobody."""

    kind: Kind
    judge_spec: Judge | None = None
    judge_status: Judge | None = None
