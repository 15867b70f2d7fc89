"""Ownership markers in hosted zones."""
