"""Who owns which records of a zone, told and moved."""
