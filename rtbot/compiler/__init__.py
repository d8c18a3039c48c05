"""From a checked graph to a plan: generated functions, and in which order they are called."""
