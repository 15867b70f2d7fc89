"""One zone as the server holds it: its RRsets arranged for lookup, and the finished answers made from them.

Owns what an answer contains. Never sees a packet, a socket or an API object.
"""
