"""Conversion of opaque payloads to the storage version of their Provider, by expression or by webhook.

`storage` decides what has to be done and judges what came of it; `client` asks a webhook once; `desk` keeps the questions that are
open, asks them with bounds and back-off, and remembers the answers. A conversion touches no DNS provider and needs no credential.
"""
