"""What endpoints become at Cloudflare: addresses A and AAAA records, one name a CNAME, which is flattened at the apex. Pure."""

from __future__ import annotations

from functools import partial
from typing import Final

from controllers.api.endpoint_conversion import EndpointConversion, convert_plainly
from controllers.providers.cloudflare.binding import BINDING

convert: Final = partial(convert_plainly, apex_alias=True)

ENDPOINT: Final = EndpointConversion(BINDING.provider, convert)
