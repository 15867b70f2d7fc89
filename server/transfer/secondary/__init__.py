"""Zones that are pulled from other name servers (RFC 1034 section 4.3.5).

Owns when a primary is asked, what of its replies is taken, and when a zone that could not be refreshed is served no longer. Never
changes what came.
"""
