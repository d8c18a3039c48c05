"""Compiled loops of change operators over transactions: one generated module for all graphs."""
