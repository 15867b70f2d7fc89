"""What is wrong, or unwise, in a master file, with the line where it stands.

Owns rules for people who write zones. An error is what the server would refuse or what breaks resolution; a warning is what seldom is
meant. Never serves, and never changes a file.
"""
