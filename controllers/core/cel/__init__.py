"""CEL expressions of Provider contracts: typed when they are admitted, bounded when they are evaluated, errors as values.

An expression is checked against message types made from the schemas of what it reads, so that a misspelt field or a wrong type
is refused when the Provider is applied. Its cost is estimated at the same time, from the sizes that the schemas allow, and an
expression that could hold the process is refused too: nothing at run time has to be stopped. This is the one module tree that
touches `cel_expr_python`; it knows no resource type.
"""
