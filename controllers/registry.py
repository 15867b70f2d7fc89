"""Every provider of the product, in the order in which options and manifests list them. A further provider is one line here."""

from __future__ import annotations

from typing import Final

from controllers.ledger.registration import Registration
from controllers.providers.cloudflare.registration import CLOUDFLARE
from controllers.providers.external.registration import EXTERNAL
from controllers.providers.hosted.registration import HOSTED
from controllers.providers.route53.registration import ROUTE53

REGISTRATIONS: Final[tuple[Registration, ...]] = (HOSTED, ROUTE53, CLOUDFLARE, EXTERNAL)
