"""What a schema can say of the texts in ZoneClass parameters, so that admission names a wrong one by its field at once.

Looser than `parameter_rule`, which has the last word: a pattern never refuses what the rule accepts.
"""

from __future__ import annotations

from typing import Final

_LABEL: Final = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_ADDRESS: Final = "([0-9]{1,3}([.][0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)"
_PORT: Final = ":[0-9]{1,5}"

DOMAIN: Final = rf"^{_LABEL}([.]{_LABEL})*$"
MAILBOX: Final = rf"^_?{_LABEL}([.]_?{_LABEL})*$"
ADDRESS: Final = rf"^{_ADDRESS}$"
ALLOW: Final = rf"^({_ADDRESS}(/[0-9.]{{1,15}})?|key:[a-z0-9_.-]+)$"
NOTIFY: Final = rf"^({_ADDRESS}|[0-9.]+{_PORT}|\[[0-9A-Fa-f:.]+\]{_PORT})$"
