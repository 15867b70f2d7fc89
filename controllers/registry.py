"""Every provider of the product, in the order in which options and manifests list them. A further provider is one line here."""

from __future__ import annotations

from typing import Final

from controllers.ledger.registration import Registration
from controllers.providers.hosted.registration import HOSTED

REGISTRATIONS: Final[tuple[Registration, ...]] = (HOSTED,)
