"""The durable object store of the embedded API: SQLite on disk, everything readable in memory, one order of changes.

Owns resource versions, atomic commits, the bounded history that watches resume from, and the data directory.
Knows keys, bytes and labels; never a schema, a verb or an HTTP status.

Inside, lowest first: `record`, `limits` and `failure` (values), `directory` and `database` (disk), `committer` (the
thread that writes), `window` (history), `table`, `lock`, `subscription`, and `store`, which is all that others use.
"""
