"""Nexmark: queries over persons, auctions and bids. `python -m benchmarks.nexmark`."""
