"""Who owns which record of a shared zone, told by TXT records of the zone itself.

Imports zonemodel only. Talks to a zone through the backends that it defines; never decides what a zone should hold.
"""
