"""Options that choose and bind providers, made from their registrations: every provider has the same ones.

`dns-api manager` has, for a provider `x`: `--x-controller-enabled`, `--x-controller-name`, `--x-provider-name`, `--x-provider-version`,
`--x-endpoint-conversion-enabled` and the provider's own settings, each with its environment variable. `dns-api up` has the switch
`--x`, the conversion's and the settings. An explicit option wins over its environment variable.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from operator import getitem
from typing import Annotated, Any, Final

import typer

from controllers.ledger.binding import Binding
from controllers.ledger.registration import (
    Choice,
    EnabledProvider,
    MissingLibraryError,
    Registration,
    Setting,
    SettingError,
)
from controllers.registry import REGISTRATIONS

PARAMETER: Final = "providers"
CONVERSION: Final = "endpoint_conversion_enabled"
IN_UP: Final = frozenset({"hosted"})
"""What `dns-api up` runs unless told otherwise: that process has a name server, and no account anywhere."""

Providers = Callable[[str], tuple[EnabledProvider, ...]]
"""Gives the chosen providers to a manager in the namespace; ends the command with a message when one of them cannot be had."""
Options = Callable[[Registration], Iterator[inspect.Parameter]]


def with_manager_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of `dns-api manager` in place of its parameter `providers: Providers`."""
    return _with_options(command, _manager_options)


def with_up_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of `dns-api up` in place of its parameter `providers: Providers`."""
    return _with_options(command, _up_options)


def _with_options(command: Callable[..., None], options_of: Options) -> Callable[..., None]:
    own = inspect.signature(command, eval_str=True).parameters
    options = [option for each in REGISTRATIONS for option in options_of(each)]
    others = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, each in own.items() if name != PARAMETER]

    @functools.wraps(command)
    def with_providers(**given: Any) -> None:
        chosen = {each.name: given.pop(each.name) for each in options}
        command(**given, **{PARAMETER: functools.partial(_enable, chosen)})

    parameters = [*others, *options]
    with_providers.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer looks at
    with_providers.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_providers


def _enable(chosen: Mapping[str, Any], namespace: str) -> tuple[EnabledProvider, ...]:
    found = []
    for each in REGISTRATIONS:
        if not chosen[f"{each.name}_controller_enabled"]:
            continue
        binding = Binding(
            controller_name=chosen.get(f"{each.name}_controller_name", each.binding.controller_name),
            provider_name=chosen.get(f"{each.name}_provider_name", each.binding.provider_name),
            provider_version=chosen.get(f"{each.name}_provider_version", each.binding.provider_version),
        )
        settings = {one.name: chosen.get(f"{each.name}_{one.name}", one.default) for one in each.settings}
        try:
            found.append(each.enable(Choice(namespace, binding, settings, _converts(each, chosen))))
        except MissingLibraryError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(1) from error
        except SettingError as error:
            raise typer.BadParameter(str(error), param_hint=_flag(f"{each.name}_{error.setting}")) from error
    return tuple(found)


def _converts(registration: Registration, chosen: Mapping[str, Any]) -> bool:
    return bool(chosen.get(f"{registration.name}_{CONVERSION}", True))


def _conversion_options(registration: Registration) -> Iterator[inspect.Parameter]:
    if registration.endpoint is not None:
        text = f"Serve the conversion of endpoints for {registration.title}; only while the provider runs."
        yield _option(f"{registration.name}_{CONVERSION}", True, text)


def _manager_options(registration: Registration) -> Iterator[inspect.Parameter]:
    name, title, binding = registration.name, registration.title, registration.binding
    yield _option(f"{name}_controller_enabled", registration.enabled, f"Run the {title} provider.")
    yield _option(
        f"{name}_controller_name", binding.controller_name, f"Controller name of the ZoneClasses that {title} serves."
    )
    yield _option(f"{name}_provider_name", binding.provider_name, f"Provider that the {title} controller is bound to.")
    yield _option(
        f"{name}_provider_version",
        binding.provider_version,
        f"Storage version that the {title} controller is bound to.",
    )
    yield from _conversion_options(registration)
    yield from (_setting(registration, each) for each in registration.settings)


def _up_options(registration: Registration) -> Iterator[inspect.Parameter]:
    name = registration.name
    switch = typer.Option(f"--{name}/--no-{name}", help=f"Run the {registration.title} provider.")
    yield _parameter(f"{name}_controller_enabled", name in IN_UP, switch)
    yield from _conversion_options(registration)
    yield from (_setting(registration, each) for each in registration.settings if not each.fixed_in_up)


def _setting(registration: Registration, setting: Setting) -> inspect.Parameter:
    return _option(f"{registration.name}_{setting.name}", setting.default, setting.help)


def _option(name: str, default: Any, text: str) -> inspect.Parameter:
    flag = _flag(name)
    flags = f"{flag}/--no-{flag.removeprefix('--')}" if isinstance(default, bool) else flag
    return _parameter(name, default, typer.Option(flags, envvar=name.upper(), help=text))


def _parameter(name: str, default: Any, option: Any) -> inspect.Parameter:
    annotation = getitem(Annotated, (type(default), option))
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
