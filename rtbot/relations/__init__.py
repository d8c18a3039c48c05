"""Change streams at work: rows as words, stores, and the regions that close transactions."""
