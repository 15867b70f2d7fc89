"""Structural schemas of custom resources (apiextensions.k8s.io/v1): what an object may hold and what is said when it does not.

Owns parsing, pruning, defaulting and validation, in the words kube-apiserver uses. Never stores objects, never does I/O.
"""
