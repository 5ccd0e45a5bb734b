"""Time and memory of attention, against its length."""
