"""Are zones well: what objects wait for, whether each live name server answers for each zone, and whether the zone above leads there.

Owns these questions. Sends queries only, and asks nobody but the cluster's name servers and, for delegations, the public ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence, Set
from typing import Any, Final

import dns.asyncquery
import dns.exception
import dns.message
import dns.rcode
import dns.rdatatype

from cli.api.condition import waits_for
from cli.dns.name_server import SELECTOR, SERVICE, live_name_servers
from cli.doctor.finding import Finding, Result, failed, ok, skipped, unanswered, warning
from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.probe.address import Address
from controllers.probe.answer import Question
from controllers.probe.apex import Delegation
from controllers.probe.delegation import Walk, system_resolvers
from controllers.probe.exchange import NetworkExchange
from controllers.probe.round import Server
from controllers.providers.cloudflare.identity.resource import CLOUDFLARE_IDENTITIES
from controllers.providers.route53.identity.resource import ROUTE53_IDENTITIES
from kube.client import Client
from kube.errors import KubeError, ResourceNotServed
from kube.quantity import counted
from zonemodel.hosted_zone import GROUP as HOSTED

TIMEOUT_S: Final = 3.0
SHOWN: Final = 50
"""Objects of a kind that are told one by one."""
_JUDGED: Final = (ZONE_CLASSES, ROUTE53_IDENTITIES, CLOUDFLARE_IDENTITIES, ZONES, RECORD_SETS)

Object = Mapping[str, Any]


async def examine_objects(client: Client) -> AsyncIterator[Finding]:
    """Yield what waits for something, with the reason; one line for a kind in which all is well."""
    for ref in _JUDGED:
        try:
            items = (await client.list(ref)).items
        except ResourceNotServed:
            continue
        except KubeError as error:
            yield unanswered("objects", ref.plural, error)
            continue
        waiting = [(each, told) for each in items if (told := waits_for({**each, "kind": ref.kind}))]
        if not waiting:
            yield ok("objects", ref.plural, f"{counted(len(items), 'object')}, nothing wrong" if items else "none")
        for obj, told in waiting[:SHOWN]:
            yield failed("objects", f"{ref.plural}/{_name(obj)}", "; ".join(told), _remedy(ref.plural, obj))
        if (more := len(waiting) - SHOWN) > 0:
            yield failed("objects", ref.plural, f"{more} more wait", f"dns-api get {ref.plural} -A")


async def examine_servers(client: Client, namespace: str) -> AsyncIterator[Finding]:
    """Yield whether each live name server answers for each hosted zone that is said to be served."""
    zones = [each for each in (await client.list(ZONES)).items if _is_said_to_be_served(each)]
    if not zones:
        yield skipped("servers", namespace, "there is no hosted Zone that is Programmed", "")
        return
    servers = await live_name_servers(client, namespace)
    if not servers:
        remedy = f"see the name servers' pods: kubectl -n {namespace} get pods,endpointslices -l {SELECTOR}"
        yield failed("servers", f"{namespace}/{SERVICE}", "no name server is ready", remedy)
    exchange = NetworkExchange()
    for server in servers:
        for address in server.addresses:
            yield await _asked(exchange, server, address, [each["spec"]["domainName"] for each in zones])


async def examine_delegations(client: Client) -> AsyncIterator[Finding]:
    """Yield whether the zone above each Zone leads to the name servers that the Zone has."""
    walk = Walk(NetworkExchange(), system_resolvers(), TIMEOUT_S)
    zones = [each for each in (await client.list(ZONES)).items if (each.get("status") or {}).get("nameServers")]
    places = asyncio.Semaphore(8)

    async def judged(zone: Object) -> Finding:
        async with places:
            return await _delegation(walk, zone)

    for found in await asyncio.gather(*(judged(each) for each in zones)):
        yield found


async def _delegation(walk: Walk, zone: Object) -> Finding:
    domain = zone["spec"]["domainName"]
    ours = {str(each).rstrip(".").lower() for each in zone["status"]["nameServers"]}
    return judge_delegation(domain, ours, await walk.discover(domain))


def judge_delegation(domain: str, ours: Set[str], found: Delegation) -> Finding:
    """Say whether the way that was found leads to the name servers of the Zone, and to no others."""
    about = ("delegation", domain)
    names = {each.name.rstrip(".").lower() for each in found.servers}
    listed = ", ".join(sorted(ours))
    remedy = f"have whoever runs the zone above name {listed} as name servers (NS) of {domain}"
    if not names and any("no resolver" in each for each in found.faults):
        return skipped(*about, "; ".join(found.faults), "run it where public DNS can be asked")
    if not names:
        return warning(*about, "; ".join(found.faults) or "the zone above does not lead here", remedy)
    if missing := ours - names:
        return warning(*about, f"the zone above does not name {', '.join(sorted(missing))}", remedy)
    if strange := names - ours:
        return warning(*about, f"{', '.join(sorted(strange))} are named as well, and are not of this Zone", remedy)
    if found.faults:
        alike = (
            "have the zone above and the Zone name the same name servers, and see that each of them answers from here"
        )
        return warning(*about, "; ".join(found.faults), alike)
    return ok(*about, f"the zone above names {listed}")


async def _asked(exchange: NetworkExchange, server: Server, address: Address, domains: Sequence[str]) -> Finding:
    """Ask one server for the SOA of every zone; the first silence ends it."""
    about = ("servers", f"{server.name} {address}")
    wrong, count = [], 0
    for domain in domains:
        reply = await exchange.ask(address, Question(domain, dns.rdatatype.SOA), TIMEOUT_S)
        if not isinstance(reply, dns.message.Message):
            remedy = f"see that it runs and that the network lets UDP and TCP through from here: dns-api query -s {address} {domain} SOA"
            outcome = reply.outcome.value
            unroutable = outcome == "unroutable"
            return Finding(*about, Result.SKIPPED if unroutable else Result.FAILED, f"{domain}: {outcome}", remedy)
        if reply.rcode() != dns.rcode.NOERROR or not reply.answer:
            wrong.append(f"{domain} ({dns.rcode.to_text(reply.rcode())})")
        count += 1
    if wrong:
        remedy = (
            f"dns-api describe zone of that domain; the server {server.name} tells in its log why it does not serve it"
        )
        return failed(*about, f"it does not answer for {', '.join(wrong)}", remedy)
    if fault := await _fault_over_tcp(address, domains[0]):
        remedy = "let TCP through as well as UDP: load balancers and network policies often take one of them only"
        return failed(*about, f"it answers over UDP, and not over TCP: {fault}", remedy)
    return ok(*about, f"it answers for {counted(count, 'zone')}")


async def _fault_over_tcp(address: Address, domain: str) -> str:
    """Return why a server does not answer over TCP, nothing when it does."""
    query = dns.message.make_query(domain, dns.rdatatype.SOA)
    try:
        await dns.asyncquery.tcp(query, address.host, TIMEOUT_S, address.port)
    except (OSError, EOFError, dns.exception.DNSException) as error:
        return (error.strerror if isinstance(error, OSError) else None) or str(error) or "no answer in time"
    return ""


def _is_said_to_be_served(zone: Object) -> bool:
    return zone["spec"]["provider"]["name"] == HOSTED and not waits_for({**zone, "kind": ZONES.kind})


def _name(obj: Object) -> str:
    metadata = obj["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])


def _remedy(plural: str, obj: Object) -> str:
    metadata = obj["metadata"]
    scope = f"-n {metadata['namespace']} " if metadata.get("namespace") else ""
    return f"dns-api describe {scope}{plural} {metadata['name']}; docs/conditions.md says what each reason means"
