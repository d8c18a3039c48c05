"""Datalog: its language, and evaluation under insertions and removals."""
