"""What attention is tried on, as data."""
