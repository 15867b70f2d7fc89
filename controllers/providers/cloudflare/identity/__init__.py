"""Cloudflare accounts and tokens that zones are kept with."""
