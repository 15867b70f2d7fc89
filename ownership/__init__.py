"""Who owns which record of a shared zone, told by TXT records of the zone itself.

Imports zonemodel only. Talks to a zone through the backends that it defines; never decides what a zone should hold.

`codec` is the format: octets in, values out. `chain` finds the snapshot that holds among those that are visible, `state` gathers
a zone, `view` answers who owns a record set, `publish` writes, `legacy` moves markers into snapshots and back, `release` ends an
owner, `backends` are zones.
"""
