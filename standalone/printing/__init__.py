"""How objects become cells: JSONPath, ages, and the columns of the built-in kinds.

Owns what a cell says. Never builds the table around it.
"""
