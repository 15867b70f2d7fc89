"""Objects in and out of an API: apply, get, describe, delete, wait, events."""
