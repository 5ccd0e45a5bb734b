"""The lesson's program, and what the project needs that is no concept."""
