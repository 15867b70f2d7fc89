"""The built-in kinds: which there are, and what is special about each when it is written.

Owns their defaults and rules, one module per kind. Never stores anything.
"""
