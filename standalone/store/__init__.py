"""The durable object store of the embedded API: SQLite on disk, everything readable in memory, one order of changes.

Owns resource versions, atomic commits, the bounded history that watches resume from, and the data directory.
Knows keys, bytes and labels; never a schema, a verb or an HTTP status.

Layers inside, lowest first: `record` (values) - `database` (disk) - `committer` (thread) - `window` (history) -
`subscription` (one watcher) - `store` (the facade the API server uses).
"""
