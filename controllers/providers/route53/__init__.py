"""The Route 53 provider: ledgers in, public hosted zones and their record sets out.

Owns `Route53Identity`, status of ZoneUnit and ZoneClass where they are bound to its controller name, and whatever it made or took over
in Route 53. It never reads or writes Zone and RecordSet claims, and never touches a record set that it neither made nor took over.
"""
