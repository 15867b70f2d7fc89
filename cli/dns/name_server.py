"""The name servers of the cluster, which every hosted zone is asked for.

Owns where they are found: the EndpointSlices of their Service. Asks the API only, never a name server.
"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from controllers.api.group import ENDPOINT_SLICES
from controllers.probe.round import Server
from controllers.providers.hosted.live_server import SERVICE_LABEL, live_endpoints, parse_server_slice
from kube.client import Client

SERVICE: Final = "dns-api-server"
SELECTOR: Final = f"{SERVICE_LABEL}={SERVICE}"

SystemNamespace = Annotated[
    str, typer.Option(envvar="POD_NAMESPACE", metavar="NAME", help="Namespace of manager and name servers.")
]


async def live_name_servers(client: Client, namespace: str) -> tuple[Server, ...]:
    """Return the name servers that are ready, with their addresses. Raises KubeError."""
    slices = await client.list(ENDPOINT_SLICES, namespace=namespace, label_selector=SELECTOR)
    return live_endpoints(parse_server_slice(each) for each in slices.items)
