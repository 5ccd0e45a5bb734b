"""sdpa: a module for each of the five judges."""
