"""Zones from HostedZone objects: watched, put together, served, and reported on.

Owns the way from an API object to a zone in the catalog and back to the object's status. Writes nothing but its own status entry.
"""
