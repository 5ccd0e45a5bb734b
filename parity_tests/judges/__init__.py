"""The judges: the definition, the laws, and the bounds of rounding."""
