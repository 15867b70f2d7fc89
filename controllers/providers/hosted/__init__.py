"""The hosted provider: ledgers in, HostedZone snapshots for our own name servers out, and their reports back as results.

Owns spec of HostedZone, status of ZoneUnit and of ZoneClass where they are bound to its controller name. It never talks to a name
server: the HostedZone object is the only thing they share.
"""
