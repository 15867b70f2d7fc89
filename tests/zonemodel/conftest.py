"""Property tests have no deadline: on a busy machine an example may take long without anything being wrong."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
