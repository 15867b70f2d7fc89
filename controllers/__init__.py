"""Controllers: resource types, the runtime they share, the core composer, providers and the manager that runs them.

Layers, lowest first: `api` (values), `runtime` (queue, worker, events) and `probe` (questions to name servers); `ledger`, which providers
share; `core` and `providers/*` beside one another, neither importing the other, but for the contract that providers are written against
(`core.providercontract`); `registry`, which lists the providers, and `manager` on top. Nothing here imports the name
server: `HostedZone` is the only thing between the two.
"""
