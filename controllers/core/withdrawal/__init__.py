"""Withdrawals: claims that a name no longer points at an address, and the waivers that release one all the same.

Owns their composition into the ledger, the projection of what a provider observed, and the status of waivers. Core alone writes the
status of both kinds. A withdrawal reserves no name and never touches what is said of Zones and RecordSets.
"""
