"""One query in, one reply out: the walk over finished answers in Python, and what takes more than a look-up."""
