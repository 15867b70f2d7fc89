"""The shape of a conversion in a Provider: exactly one of an expression or a webhook, and how the webhook is reached.

Never calls a webhook.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    Field,
    require_integer,
    require_object,
    require_object_name,
    require_text,
)

TIMEOUT_LIMIT_S: Final = 30
CA_BUNDLE: Final = "PEM certificates in base64, which the server's certificate must chain to"


def judge_conversion(to_storage: Field) -> Iterator[Fault]:
    """Object to a conversion that is not exactly one of cel and webhook, or whose webhook cannot be reached safely."""
    cel, webhook = to_storage.child("cel"), to_storage.child("webhook")
    if cel.present == webhook.present:
        allowed = "exactly one of cel and webhook"
        yield to_storage.fault(allowed, FaultReason.FORBIDDEN if cel.present else FaultReason.REQUIRED)
    if webhook.present:
        yield from _judge_webhook(webhook)


def _judge_webhook(webhook: Field) -> Iterator[Fault]:
    service = webhook.at("clientConfig.service")
    faults = list(require_object(service, "namespace and name of a Service"))
    yield from faults
    if not faults:
        yield from require_object_name(service.child("namespace"))
        yield from require_object_name(service.child("name"))
        yield from _judge_path(service.child("path"))
        if service.child("port").present:
            yield from require_integer(service.child("port"), 1, 65535)
    yield from _require_ca_bundle(webhook.at("clientConfig.caBundle"))
    if webhook.child("timeoutSeconds").present:
        yield from require_integer(webhook.child("timeoutSeconds"), 1, TIMEOUT_LIMIT_S)


def _judge_path(path: Field) -> Iterator[Fault]:
    if path.present and not (path.text or "").startswith("/"):
        yield path.fault("a URL path that begins with a slash")


def _require_ca_bundle(bundle: Field) -> Iterator[Fault]:
    faults = list(require_text(bundle, CA_BUNDLE))
    yield from faults
    if faults or bundle.text is None:
        return
    try:
        decoded = base64.b64decode(bundle.text, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if b"-----BEGIN CERTIFICATE-----" not in decoded:
        yield bundle.fault(CA_BUNDLE)
