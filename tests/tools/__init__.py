"""Programs that set a machine up for the tests; never imported by the product."""
