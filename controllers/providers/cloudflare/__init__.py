"""The Cloudflare provider: ledgers in, zones and DNS records of a Cloudflare account out, and what was observed of them as results.

Owns status of CloudflareIdentity, and of ZoneClass and ZoneUnit where they are bound to its controller name. The API is touched in
`client` alone, through Cloudflare's own SDK; every record that is changed or deleted is named by an identifier from a status or an
adoption, never by its name.
"""
