"""What goes on behind the verbs once something is to be deleted: owned objects, the content of namespaces, the instances
of definitions, old events.

Owns the level-based workers that do it, through the same verbs that clients use. Each may be interrupted anywhere and
begins again from what is stored.
"""
