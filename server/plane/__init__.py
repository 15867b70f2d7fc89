"""The native data plane behind the interfaces of the Python one: catalog, matcher, limiter and UDP sockets.

Owns the only imports of the extension module `server._native`. Where that is not built, nothing of this package is used and the server
answers the same, slower.
"""
