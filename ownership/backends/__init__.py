"""Zones that ownership is kept in: what a backend does, and two of them.

Those of cloud providers stand with their providers.
"""
