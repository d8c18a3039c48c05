"""The execution of a plan: sessions, keys, state, frontiers, and what is released."""
