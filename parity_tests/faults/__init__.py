"""Wrong versions that the suite must catch."""
