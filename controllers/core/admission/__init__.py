"""Validating admission of the core kinds: pure validators, the AdmissionReview around them and the TLS server in front.

Validators work on raw manifests, so that missing fields and every other fault are named in one refusal. Nothing here
changes an object, calls a DNS provider or judges access across namespaces; controllers report those in conditions.
"""
