"""Everything that talks to a Kubernetes API server: typed verbs, watches, informers, leader election, one error tree.

Knows the API conventions only. Never knows a DNS name, a resource type of ours, or which API server answers.
"""
