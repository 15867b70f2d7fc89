"""Controllers: resource types, the runtime they share, the core composer, providers and the manager that runs them.

Layers, lowest first: `api` (values) and `runtime` (queue, worker, events); `core` and `providers/*` beside one another, neither
importing the other; `manager` on top. Nothing here imports the name server: `HostedZone` is the only thing between the two.
"""
