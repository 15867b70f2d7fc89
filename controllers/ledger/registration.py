"""How a provider is built into the product: one `Registration` for each, made by its package, listed in `controllers.registry`.

Everything else follows from it: options of the commands, definitions and Provider among the manifests, admission of the provider's own
kinds, and what the manager runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, Protocol

from controllers.api.endpoint_conversion import EndpointConversion
from controllers.core.providercontract.conversion.desk import ConversionDesk
from controllers.core.providercontract.own_kind import OwnKind
from controllers.ledger.binding import Binding
from controllers.ledger.surroundings import Surroundings
from controllers.runtime.controller import Controller
from kube.informer import Informer

SettingValue = str | int | float | bool


class LeadingProvider(Protocol):
    """A provider while its manager leads; nothing of a former leadership is left in it."""

    @property
    def controllers(self) -> Sequence[Controller[Any]]: ...

    @property
    def conversions(self) -> ConversionDesk: ...


@dataclass(frozen=True, slots=True)
class AttachedProvider:
    """A provider in a manager's process, leading or not.

    `informers` are its own caches, which run all the time; their indexes are there already. `lead` is called at each beginning of a
    leadership, when all caches are complete; the context is left at its end.
    """

    lead: Callable[[], AbstractAsyncContextManager[LeadingProvider]]
    informers: tuple[Informer[Any], ...] = ()


@dataclass(frozen=True, slots=True)
class EnabledProvider:
    """A provider with its configuration. `attach` is called once for each manager, before any cache runs."""

    attach: Callable[[Surroundings], AttachedProvider]
    kinds: tuple[OwnKind, ...] = ()
    endpoint: EndpointConversion | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """An option of the provider's own: `--<provider>-<name>` and `<PROVIDER>_<NAME>`, of the type that its default has.

    `name` is in lower case with underscores. One that is `fixed_in_up` is no option of `dns-api up`.
    """

    name: str
    default: SettingValue
    help: str
    fixed_in_up: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """What a provider is told at its start; `namespace` is the manager's, `settings` has a value for each setting by its name.

    `endpoint_conversion` says whether its conversion of endpoints is served.
    """

    namespace: str
    binding: Binding
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    endpoint_conversion: bool = True


class MissingLibraryError(Exception):
    """A provider needs a library that is not installed."""


class SettingError(Exception):
    """The value of a setting is not allowed; the message says what was found and what is allowed."""

    def __init__(self, setting: str, message: str) -> None:
        super().__init__(message)
        self.setting = setting


@dataclass(frozen=True, slots=True)
class Registration:
    """One provider.

    `name` stands in options, environment variables and the name of the extra that installs its `libraries`. `title` is what people call
    it. `enabled` says whether the manager runs it unless told otherwise. `endpoint` is how it converts endpoints, if it does.
    `configure` may raise SettingError; it and everything that this object refers to must not import a library that is not always
    there: `EnabledProvider.attach` is the first to do so.
    """

    name: str
    title: str
    binding: Binding
    provider_manifest: Callable[[], dict[str, Any]]
    configure: Callable[[Choice], EnabledProvider]
    kinds: tuple[OwnKind, ...] = ()
    settings: tuple[Setting, ...] = ()
    enabled: bool = True
    libraries: tuple[str, ...] = ()
    endpoint: EndpointConversion | None = None

    def enable(self, choice: Choice) -> EnabledProvider:
        """Return the provider, ready to be attached. Raises MissingLibraryError, SettingError."""
        missing = [name for name in self.libraries if find_spec(name) is None]
        if missing:
            raise MissingLibraryError(
                f"the {self.title} provider needs {', '.join(missing)}, which is not installed: "
                f"pip install 'dns-api[{self.name}]', or switch the provider off"
            )
        enabled = self.configure(choice)
        return replace(enabled, endpoint=self.endpoint) if choice.endpoint_conversion else enabled
