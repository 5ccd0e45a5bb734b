"""The tests of the suite's commands."""
