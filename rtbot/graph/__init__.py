"""Graphs as they are written: the document, the checker, the checked model, the schema."""
