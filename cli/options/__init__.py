"""Options as people spell them."""
