"""Everything that is kept, on SQLite or PostgreSQL, through one code path (SQLAlchemy Core).

``Store`` in ``store.store`` is the way in. Writes go through one writer thread that commits
whatever waits; reads through a few threads with connections of their own. The workspace is in
every table and comes first in every function; scans over all workspaces take no id.
"""
