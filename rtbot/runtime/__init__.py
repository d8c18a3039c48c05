"""A plan in progress: sessions, keys, state, frontiers, and what is released."""
