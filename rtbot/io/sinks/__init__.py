"""Writers of files: rows sorted and written as CSV, JSON lines, Parquet or Arrow."""
