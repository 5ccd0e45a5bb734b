"""The cases that attention is tested with, as data."""
