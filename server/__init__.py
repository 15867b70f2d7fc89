"""The authoritative name server: zones in, answers out, over UDP and TCP.

Owns sockets, the compiled zones and what an answer contains. It reads HostedZone objects and reports on their status, and touches
nothing else: no claim, no Secret, no lease.
"""
