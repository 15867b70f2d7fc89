"""The format, version 1: manifests and pages as the octets of TXT values, and back.

Pure, bounded in time and memory whatever the input. Never touches a zone.
"""
