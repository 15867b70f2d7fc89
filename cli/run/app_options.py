"""Options of the apps that publish endpoints: the same ones for `dns-api manager` and `dns-api up`."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from controllers.apps.registry import AppsConfig

_PANEL: Final = "Endpoints"

RecordSetNamespace = Annotated[
    str | None,
    typer.Option(
        "--endpoint-recordset-namespace",
        envvar="ENDPOINT_RECORDSET_NAMESPACE",
        help="Namespace of all RecordSets that endpoints become, by default each endpoint's own.",
        rich_help_panel=_PANEL,
    ),
]
ServiceSource = Annotated[
    bool,
    typer.Option(
        "--service-source-enabled/--no-service-source-enabled",
        envvar="SERVICE_SOURCE_ENABLED",
        help="Publish Services of type LoadBalancer that name hostnames.",
        rich_help_panel=_PANEL,
    ),
]
GatewaySource = Annotated[
    bool,
    typer.Option(
        "--gateway-source-enabled/--no-gateway-source-enabled",
        envvar="GATEWAY_SOURCE_ENABLED",
        help="Publish Gateways with the hostnames of their HTTPRoutes; needs the Gateway API's definitions.",
        rich_help_panel=_PANEL,
    ),
]


def apps_config(record_set_namespace: str | None, service: bool, gateway: bool) -> AppsConfig:
    """Return the options as one value; an empty namespace is none."""
    return AppsConfig(record_set_namespace=record_set_namespace or None, service=service, gateway=gateway)
