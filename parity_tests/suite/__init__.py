"""What the suite is made of: versions, checks, and how one is run."""
