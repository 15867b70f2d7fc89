"""A strict, stateful Route 53 and STS over HTTP, for the unmodified SDK.

Owns nothing of the product: names and values are read and written by code of its own, so that a mistake on one side shows.
"""
