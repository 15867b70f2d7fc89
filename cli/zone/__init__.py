"""Master files in, as manifests, and out again."""
