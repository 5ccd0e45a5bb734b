"""The parts of the suite: versions, checks, and running them."""
