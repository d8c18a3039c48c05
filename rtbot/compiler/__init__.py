"""From a checked graph to a plan: generated functions, and the order in which they are called."""
