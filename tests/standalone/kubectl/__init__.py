"""Real kubectl and real helm against a running embedded API server."""
