"""The embedded Kubernetes API over HTTP: routing, verbs, watches, admission and the clean-up that runs behind them.

Owns what a request means and what it is answered. Never owns durability (store/), schemas (schema/), field ownership
(fields/) or the documents that describe the API (discovery, openapi/).
"""
