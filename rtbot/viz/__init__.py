"""Pictures without any program or library: charts of runs, drawings of graphs."""
