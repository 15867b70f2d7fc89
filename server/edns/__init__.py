"""EDNS options (RFC 6891): what queries say in them and what our replies say back.

Owns the options one by one. Never composes a message.
"""
