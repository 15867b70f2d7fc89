"""Everything that the controllers of the provider look at, read from their caches at one moment.

Owns gathering and the indexes that it needs. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from controllers.api.zone_class import ZoneClass
from controllers.ledger.context import LedgerContext
from controllers.ledger.surroundings import Surroundings
from controllers.ledger.view import LedgerView, gather_ledger
from controllers.providers.cloudflare.account import Account, Accounts
from controllers.providers.cloudflare.identity.resource import CLOUDFLARE_IDENTITIES, CloudflareIdentity, parse_identity
from controllers.providers.cloudflare.secret import secret_informer
from kube.informer import Informer
from kube.object import ObjectKey, ObjectMeta

CLASSES_INDEX: Final = "cloudflare/identity"
"""ZoneClasses by the key of the identity that they name."""
IDENTITIES_INDEX: Final = "cloudflare/secret"
"""CloudflareIdentities by the key of the Secret that they name."""


@dataclass(frozen=True, slots=True)
class CloudflareInformers:
    """The provider's own caches; the manager runs them."""

    identities: Informer[CloudflareIdentity]
    secrets: Informer[ObjectMeta]

    @classmethod
    def of(cls, surroundings: Surroundings) -> CloudflareInformers:
        """Return caches with their indexes, those on the shared ones too."""
        identities = Informer(surroundings.client, CLOUDFLARE_IDENTITIES, parse_identity)
        identities.add_index(IDENTITIES_INDEX, _secret_of)
        surroundings.informers.zone_classes.add_index(CLASSES_INDEX, _identities_of)
        return cls(identities, secret_informer(surroundings.client))


def identity_key(zone_class: ZoneClass) -> ObjectKey | None:
    """Return the key of the identity that a class names."""
    ref = zone_class.spec.identity_ref
    return ObjectKey(zone_class.meta.namespace, ref.name) if ref is not None else None


def _identities_of(zone_class: ZoneClass) -> Iterator[ObjectKey]:
    key = identity_key(zone_class)
    if key is not None:
        yield key


def _secret_of(identity: CloudflareIdentity) -> Iterator[ObjectKey]:
    yield ObjectKey(identity.meta.namespace, identity.spec.access_token.secret_ref.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudflareView(LedgerView):
    """One zone with the identity of its class, and the account when its token is known to work."""

    identity: CloudflareIdentity | None
    account: Account | None


def gather(
    context: LedgerContext, informers: CloudflareInformers, accounts: Accounts, key: ObjectKey
) -> CloudflareView:
    """Return the view of one zone."""
    ledger = gather_ledger(context, key)
    name = identity_key(ledger.zone_class) if ledger.zone_class is not None else None
    return CloudflareView(
        key=ledger.key,
        parts=ledger.parts,
        zone_class=ledger.zone_class,
        provider=ledger.provider,
        stored_class=ledger.stored_class,
        identity=informers.identities.get(name) if name is not None else None,
        account=accounts.get(name) if name is not None else None,
    )
