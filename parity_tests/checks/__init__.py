"""The checks, one module a concept."""
