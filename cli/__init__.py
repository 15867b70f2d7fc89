"""The `dns-api` command: options in, text and exit codes out. What is done is done by the other packages."""
