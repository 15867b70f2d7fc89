"""What endpoints become in an external zone: addresses A and AAAA records, one name a CNAME, which the apex cannot have. Pure."""

from __future__ import annotations

from functools import partial
from typing import Final

from controllers.api.endpoint_conversion import EndpointConversion, convert_plainly
from controllers.providers.external.binding import BINDING

convert: Final = partial(convert_plainly, apex_alias=False)

ENDPOINT: Final = EndpointConversion(BINDING.provider, convert)
