"""Runs as pictures, without any program or library: a chart of outputs, a summary of a result."""
