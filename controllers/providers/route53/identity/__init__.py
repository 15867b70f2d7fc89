"""AWS accounts and roles that zones are kept with."""
