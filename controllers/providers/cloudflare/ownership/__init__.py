"""Ownership markers in Cloudflare zones."""
