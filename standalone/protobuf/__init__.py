"""Reads the request bodies that typed clients send as `application/vnd.kubernetes.protobuf`.

Owns the decoding of the built-in kinds that such clients post, from their public field numbers. Never encodes: every
client that sends protobuf accepts JSON answers.
"""
