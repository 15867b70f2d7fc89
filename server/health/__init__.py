"""What is told of a running server over HTTP: health and metrics."""
