"""Tiered execution: code that starts interpreted and goes over to compiled code."""
