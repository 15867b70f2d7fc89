"""What manifests would do to zones, told without writing."""
