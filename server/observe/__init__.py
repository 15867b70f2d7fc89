"""Who is told about queries: the query log and dnstap.

Owns what is told. A query never waits for it: what cannot be told in time is left out and counted.
"""
