"""Object metadata (meta/v1 ObjectMeta), the part of an object that is the same for every kind.

Owns its types, identity, generation and rules. Pure: works on decoded objects, takes the time as an argument.
"""
