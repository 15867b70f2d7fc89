"""Commands that run until they are stopped: the whole product, the manager, the name server."""
