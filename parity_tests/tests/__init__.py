"""What pytest runs."""
