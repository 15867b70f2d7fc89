"""Examinations of an installation and its zones, each with what to do."""
