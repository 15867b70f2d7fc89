"""Core: composes Zone and RecordSet claims into ZoneUnit ledgers and projects the providers' results back onto the claims.

Never talks to a DNS provider and imports none. `gather` reads informers, `compose` decides, `apply` writes.
"""
