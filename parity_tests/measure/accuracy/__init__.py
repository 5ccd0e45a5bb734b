"""The error of each version, and of torch's function."""
