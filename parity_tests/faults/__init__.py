"""Wrong versions that the suite must turn away."""
