"""The tests of a port: what `--impl` collects."""
