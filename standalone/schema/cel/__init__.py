"""`x-kubernetes-validations`: rules in CEL, compiled with the schema and evaluated over objects.

Owns types, functions, compilation and evaluation of rules. Never validates anything that has no rule.
"""
