"""Zone transfers: out to secondaries (AXFR, IXFR), the notices between servers (NOTIFY), and in from a primary.

Owns who may transfer what, the history of each zone that IXFR answers from, and transaction signatures (TSIG). Never decides what a
query for data is answered.
"""
