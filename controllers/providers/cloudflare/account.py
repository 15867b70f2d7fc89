"""The accounts that can be operated on now: for each working identity a client and the account's identifier.

Owns the clients of one leadership. Tokens stand in the clients alone. A client that is no longer used is closed at the end, since a
request may still be on its way through it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from controllers.providers.cloudflare.client import CloudflareClient
from kube.object import ObjectKey

Listener = Callable[[ObjectKey], None]


@dataclass(frozen=True, slots=True)
class Account:
    """One account as an identity reaches it; `serial` is new with every token."""

    id: str
    client: CloudflareClient
    serial: int


class Accounts:
    """By the key of the identity. `changed` is called when an account can be operated on, or no longer."""

    def __init__(self, changed: Listener) -> None:
        self._changed = changed
        self._accounts: dict[ObjectKey, Account] = {}
        self._retired: list[CloudflareClient] = []
        self._serials = count(1)
        self.doubt: Listener = lambda _: None
        """Called when the API refuses a token that has worked before."""

    def get(self, identity: ObjectKey) -> Account | None:
        """Return the account of an identity, None while its token is not known to work."""
        return self._accounts.get(identity)

    def put(self, identity: ObjectKey, account_id: str, client: CloudflareClient) -> None:
        """Have an account operated on with a client from now on."""
        self._retire(identity)
        self._accounts[identity] = Account(account_id, client, next(self._serials))
        self._changed(identity)

    def drop(self, identity: ObjectKey) -> None:
        """Have an account left alone from now on."""
        if self._retire(identity):
            self._changed(identity)

    def retire(self, client: CloudflareClient) -> None:
        """Have a client closed in the end."""
        self._retired.append(client)

    async def close(self) -> None:
        """Close every client."""
        clients = [*self._retired, *(each.client for each in self._accounts.values())]
        self._accounts.clear()
        self._retired.clear()
        for client in clients:
            await client.close()

    def _retire(self, identity: ObjectKey) -> bool:
        account = self._accounts.pop(identity, None)
        if account is not None:
            self._retired.append(account.client)
        return account is not None
