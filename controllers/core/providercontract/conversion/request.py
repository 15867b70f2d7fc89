"""`ConversionRequest`: one question to a conversion webhook, and its form on the wire (ProviderConversionReview)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from controllers.api.group import API_VERSION
from controllers.api.provider import ConversionWebhook, ServiceReference
from controllers.core.providercontract.target import Target

KIND: Final = "ProviderConversionReview"


class ConversionKey(NamedTuple):
    """Identity of a question: two with the same key have the same answer.

    `subject` is unique to the object that holds the payload (its uid), so that a recreated object never gets its predecessor's
    answer.
    """

    subject: str
    generation: int
    provider_uid: str
    provider_generation: int


@dataclass(frozen=True, slots=True)
class ConversionRequest:
    """What is to be converted, by whom, and what the payload belongs to.

    `context` has `zone` (namespace, name, domainName) and `recordSet` (namespace, name, recordName, type) as far as they exist.
    """

    key: ConversionKey
    webhook: ConversionWebhook
    target: Target
    provider: str
    from_version: str
    to_version: str
    payload: Mapping[str, Any]
    context: Mapping[str, Mapping[str, str]]

    @property
    def service(self) -> ServiceReference:
        return self.webhook.client_config.service

    @property
    def step(self) -> tuple[str, int, str, str]:
        """What is converted to what, whichever state of the Provider says how."""
        return self.key.subject, self.key.generation, self.from_version, self.to_version

    @property
    def asked(self) -> str:
        """Who has to answer what, as a phrase for people."""
        return asked_of(self.webhook, self.payload, self.from_version, self.to_version)

    def review(self, uid: str) -> bytes:
        """Return the body of the request; `uid` names this one attempt."""
        request = {
            "uid": uid,
            "provider": {"name": self.provider},
            "target": self.target.kind,
            "fromVersion": self.from_version,
            "toVersion": self.to_version,
            "payload": self.payload,
            "context": self.context,
        }
        return orjson.dumps({"apiVersion": API_VERSION, "kind": KIND, "request": request})


def asked_of(webhook: ConversionWebhook, payloads: Iterable[str], from_version: str, to_version: str) -> str:
    """Return who has to convert which payloads, as a phrase for people."""
    service = webhook.client_config.service
    what = " and ".join(f"spec.{name}" for name in payloads)
    return f"the conversion webhook, Service {service.namespace}/{service.name}, to give {what} of {from_version} in {to_version}"
