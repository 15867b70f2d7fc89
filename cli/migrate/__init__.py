"""Taking over what other programs keep in a zone."""
