"""How a schema may declare `x-kubernetes-validations`.

Owns the faults of the entries themselves. Their expressions are compiled in `cel.rules`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from standalone.schema.fault import Fault, invalid, not_supported, required
from standalone.schema.keyword import REASONS

_LINE_BREAK: Final = re.compile(r"[\n\r]")
_TEXTS: Final = ("rule", "message", "messageExpression", "reason", "fieldPath")


def validation_faults(schema: Mapping[str, Any], path: str) -> list[Fault]:
    """Return the faults of the rules' entries at one position."""
    faults: list[Fault] = []
    for index, entry in enumerate(schema.get("x-kubernetes-validations") or ()):
        here = f"{path}.x-kubernetes-validations[{index}]"
        misshapen = [
            invalid(f"{here}.{name}", entry[name], "must be a string")
            for name in _TEXTS
            if entry.get(name) is not None and not isinstance(entry[name], str)
        ]
        faults += misshapen or _entry_faults(entry, here)
    return faults


def _entry_faults(entry: Mapping[str, Any], path: str) -> list[Fault]:
    faults = _text_faults(entry, path)
    expression = entry.get("messageExpression") or ""
    if expression and not expression.strip():
        faults.append(required(f"{path}.messageExpression", "messageExpression must be non-empty if specified"))
    reason = entry.get("reason")
    if reason is not None and reason not in REASONS:
        faults.append(not_supported(f"{path}.reason", reason, REASONS))
    field_path = entry.get("fieldPath") or ""
    if field_path and not field_path.strip():
        faults.append(invalid(f"{path}.fieldPath", field_path, "must be non-empty if specified"))
    if _LINE_BREAK.search(field_path):
        faults.append(invalid(f"{path}.fieldPath", field_path, "must not contain line breaks"))
    optional = entry.get("optionalOldSelf")
    if optional is not None and not isinstance(optional, bool):
        faults.append(invalid(f"{path}.optionalOldSelf", optional, "must be a boolean"))
    return faults


def _text_faults(entry: Mapping[str, Any], path: str) -> list[Fault]:
    """At most one fault of rule and message, the first that hides the others."""
    rule, message = (entry.get("rule") or "").strip(), entry.get("message") or ""
    if not rule:
        return [required(f"{path}.rule", "rule is not specified")]
    if message and not message.strip():
        return [invalid(f"{path}.message", message, "must be non-empty if specified")]
    if _LINE_BREAK.search(message.strip()):
        return [invalid(f"{path}.message", message, "must not contain line breaks")]
    if _LINE_BREAK.search(rule) and not message:
        return [required(f"{path}.message", "message must be specified if rule contains line breaks")]
    return []
