"""Writers of files: rows put in order and written as CSV, JSON lines, Parquet or Arrow."""
