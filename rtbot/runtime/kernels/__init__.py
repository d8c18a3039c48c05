"""Compiled loops of the runtime, over columns and over waiting rows."""
