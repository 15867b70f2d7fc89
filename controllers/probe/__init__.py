"""Questions to authoritative name servers, asked anew each time, and what their answers say.

Owns the exchange of DNS messages, who is asked how often, and the walk along a delegation. Never judges whether an answer is the right
one, never writes DNS, and keeps no answer past the round that it was asked for in.
"""
