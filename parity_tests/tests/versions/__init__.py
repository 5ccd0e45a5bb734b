"""The tests of the two versions."""
