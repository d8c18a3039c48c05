"""Files of tables: read in blocks into checked arrays, written in blocks from results."""
