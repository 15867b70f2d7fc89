"""Secrets with API tokens: which have changed, and the token in one.

Owns the form of the token. The cache keeps names and versions only; a value is read when it is needed and kept nowhere.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from controllers.api.group import SECRETS
from controllers.providers.cloudflare.identity.resource import IdentityReason, SecretKeyRef
from kube.client import Client
from kube.errors import Forbidden, NotFound
from kube.informer import Informer
from kube.object import ObjectKey, ObjectMeta


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the version of the Secret that it stands in. Never shown: it has no representation."""

    text: str
    version: str

    def __repr__(self) -> str:
        return "Token(…)"


@dataclass(frozen=True, slots=True)
class NoToken:
    """Why there is no token."""

    reason: IdentityReason
    message: str


def secret_informer(client: Client) -> Informer[ObjectMeta]:
    """Return the cache of which Secrets there are, without their values."""
    return Informer(client, SECRETS, ObjectMeta.parse)


async def read_token(client: Client, namespace: str, ref: SecretKeyRef) -> Token | NoToken:
    """Return the token that a reference names. Raises KubeError when the API server cannot tell."""
    key = ObjectKey(namespace, ref.name)
    try:
        secret = await client.get(SECRETS, name=ref.name, namespace=namespace)
    except NotFound:
        return NoToken(IdentityReason.SECRET_NOT_FOUND, f"Secret {key} does not exist.")
    except Forbidden:
        return NoToken(IdentityReason.ACCESS_TOKEN_UNAVAILABLE, f"Secret {key} may not be read.")
    encoded = (secret.get("data") or {}).get(ref.key)
    if not isinstance(encoded, str):
        return NoToken(IdentityReason.ACCESS_TOKEN_UNAVAILABLE, f"Secret {key} has no key {ref.key}.")
    try:
        text = base64.b64decode(encoded, validate=True).decode("ascii").strip()
    except (binascii.Error, UnicodeDecodeError):
        text = ""
    if not text or not text.isprintable() or " " in text:
        message = f"The value of {ref.key} in Secret {key} is no token: one line of visible ASCII is needed."
        return NoToken(IdentityReason.ACCESS_TOKEN_UNAVAILABLE, message)
    meta = ObjectMeta.parse(secret)
    return Token(text, f"{meta.uid}/{meta.resource_version}")
