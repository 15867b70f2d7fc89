"""`dns-api up`: API server, manager and name server in one process.

They talk to one another over the API's own port, exactly as they would in a cluster; this package only starts them, installs what
an installation needs and applies the manifests it was given.
"""
