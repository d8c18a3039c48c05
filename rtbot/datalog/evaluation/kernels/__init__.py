"""Loops over rows of relations: plain functions that are compiled once for all programs."""
