"""The contract of a Provider, as core and the providers' controllers read it: which version a claim means, whether a payload
satisfies it, and what the payload is in the storage version.

Pure values: a Provider object in, faults and results out; only `conversion` talks to somebody, which is the conversion webhook that a
Provider names. Never reads an API, never calls a DNS provider.
"""
