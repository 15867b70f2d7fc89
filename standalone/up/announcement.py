"""What `dns-api up` prints: where everything listens, what was applied, and one query to try."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from kube.object import ObjectKey
from kube.quantity import counted
from server.config import Address
from standalone.up.manifest_source import Document, Problem
from zonemodel.name import Fqdn, OwnerName, owner_fqdn

SHOWN_PROBLEMS: Final = 10


@dataclass(frozen=True, slots=True)
class Example:
    """A record set to ask for, the claim behind it and its Zone."""

    fqdn: Fqdn
    rtype: str
    record_set: ObjectKey
    zone: ObjectKey


class Announcement:
    """Writes to one stream, in whole lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def starting(self, text: str) -> None:
        """Say what is being done."""
        self._line(f"==> {text}")

    def started(
        self,
        api_url: str,
        dns: Sequence[Address],
        kubeconfig: Path,
        applied: Sequence[Document],
        problems: Sequence[Problem],
        shown: Example | None,
    ) -> None:
        """Say that everything runs, and what to try; `shown` is a record set to ask for."""
        self._line("dns-api is up.")
        self._line(f"  API         {api_url}")
        for address in dns:
            self._line(f"  DNS         {address} (UDP and TCP)")
        self._line(f"  kubeconfig  {kubeconfig}")
        self._applied(len(applied), problems)
        self._line("Try:")
        self._line(f"  export KUBECONFIG={kubeconfig}")
        self._line("  dns-api get zones,recordsets -A        # or: kubectl get zones,recordsets -A")
        if shown is not None and dns:
            self._line(f"  {dig_line(dns[0], shown)}")
        self._line("Stop with Ctrl-C.")

    def applied_again(self, applied: int, problems: Sequence[Problem]) -> None:
        """Say what came of files that changed."""
        self._applied(applied, problems)

    def stopping(self) -> None:
        """Say that the end has begun."""
        self._line("Stopping.")

    def _applied(self, count: int, problems: Sequence[Problem]) -> None:
        if count:
            self._line(f"  applied     {counted(count, 'manifest')}")
        for problem in problems[:SHOWN_PROBLEMS]:
            self._line(f"  not applied {problem}")
        if len(problems) > SHOWN_PROBLEMS:
            self._line(f"  not applied {len(problems) - SHOWN_PROBLEMS} more")
        if problems:
            self._line("              mend the file and save it: it is applied again at once")

    def _line(self, text: str) -> None:
        try:
            print(text, file=self._stream, flush=True)
        except (
            BrokenPipeError
        ):  # nobody reads it any more, as after `dns-api up | head`: what runs is not ended by that
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


def example(applied: Sequence[Document]) -> Example | None:
    """Return a record set that the manifests publish, one of addresses if there is one."""
    zones = {
        (content["metadata"].get("namespace"), content["metadata"]["name"]): content["spec"]["domainName"]
        for content in (document.content for document in applied)
        if content["kind"] == "Zone"
    }
    found = []
    for content in (document.content for document in applied):
        if content["kind"] != "RecordSet":
            continue
        spec, namespace = content["spec"], content["metadata"].get("namespace")
        zone = (spec["zoneRef"].get("namespace", namespace), spec["zoneRef"]["name"])
        if zone in zones and "*" not in spec["name"] and spec["type"] != "NS":
            fqdn = owner_fqdn(OwnerName(spec["name"]), zones[zone])
            found.append(
                Example(
                    fqdn, spec["type"], ObjectKey(namespace, content["metadata"]["name"]), ObjectKey(zone[0], zone[1])
                )
            )
    return min(found, key=lambda each: each.rtype not in {"A", "AAAA"}, default=None)


def dig_line(server: Address, what: Example) -> str:
    """Return the `dig` command that asks the server."""
    return f"dig @{server.host} -p {server.port} {what.fqdn} {what.rtype}"
