"""`PayloadSchema`: one schema of a Provider, compiled, and what it says of payloads.

As in a CustomResourceDefinition, an object whose schema names properties has these and no others, so that a misspelt field is
refused and not passed over; `additionalProperties` or `x-kubernetes-preserve-unknown-fields` open it. Never fetches anything,
never fills in defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.core.providercontract.dialect import TooMuchWorkError, objections, validator
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.size import SizeError, check_size
from controllers.core.providercontract.wording import fault_of

FAULT_LIMIT: Final = 100


class PayloadSchema:
    """A schema that the dialect admits; build it once and judge any number of payloads."""

    __slots__ = ("_validator", "schema")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self._validator: Any = validator(_closed(schema))

    def judge(self, payload: Field) -> Iterator[Fault]:
        """Object to a payload that the schema does not allow, at the paths of its own fields."""
        try:
            check_size(payload.value)
            found = objections(self._validator, payload.value, FAULT_LIMIT)
        except SizeError as error:
            yield Fault(payload.path, f"a value that is too large: {error}", "a smaller one", FaultReason.TOO_LONG)
        except TooMuchWorkError:
            yield Fault(payload.path, "a value that takes too long to check", "a smaller one", FaultReason.TOO_LONG)
        else:
            yield from (fault_of(payload.path, each) for each in found)


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with every object closed that names its properties and is not open on purpose.

    Alternatives and combinations stay as they are: they speak of some properties of an object, not of all.
    """
    out = dict(schema)
    if "properties" in schema:
        out["properties"] = {name: _closed(each) for name, each in schema["properties"].items()}
        if schema.get("x-kubernetes-preserve-unknown-fields") is not True:
            out.setdefault("additionalProperties", False)
    for name in ("items", "additionalProperties"):
        if isinstance(out.get(name), Mapping):
            out[name] = _closed(out[name])
    return out
