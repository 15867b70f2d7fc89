"""Apps: what publishes endpoints of the cluster. They create resources of the core and endpoint groups and know no provider."""
