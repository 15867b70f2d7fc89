"""The contract of a Provider, as core reads it: which version a claim means, and whether a payload satisfies it.

Pure values: a Provider object in, faults and results out. Never reads an API, never calls a DNS provider.
"""
