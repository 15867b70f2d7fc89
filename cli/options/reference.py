"""Options that name objects of the API; what cannot be one is a typer.BadParameter that tells option, finding and what is allowed."""

from __future__ import annotations

import typer

from controllers.api.reference import ProviderRef
from controllers.core.providercontract.field import OBJECT_NAME, is_subdomain


def object_name(text: str, option: str) -> str:
    """Return the value of `option` when it can be the name of an object."""
    if not is_subdomain(text):
        raise typer.BadParameter(f"found {text!r}, allowed is {OBJECT_NAME}", param_hint=option)
    return text


def provider_ref(text: str, example: str) -> ProviderRef:
    """Return the Provider and version that `--provider` names; `example` shows the form, NAME/VERSION."""
    name, _, version = text.partition("/")
    if not is_subdomain(name) or not is_subdomain(version):
        message = f"found {text!r}, allowed is the name of a Provider and a version, such as {example}"
        raise typer.BadParameter(message, param_hint="--provider")
    return ProviderRef(name=name, version=version)
