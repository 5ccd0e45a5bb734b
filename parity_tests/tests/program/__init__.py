"""The tests of the lesson's program."""
