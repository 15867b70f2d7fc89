"""The external provider: zones that somebody else edits, observed by DNS queries.

Owns status of ZoneUnit and of ZoneClass where they are bound to its controller name. It holds no credential, reads no Secret and writes
no DNS: it asks the zone's servers and says what is still missing.
"""
