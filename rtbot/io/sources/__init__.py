"""Readers of files: CSV, JSON lines, Parquet and Arrow, as blocks of checked columns."""
