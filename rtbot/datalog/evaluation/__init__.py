"""Evaluation of a checked program: what its relations hold after every commit."""
