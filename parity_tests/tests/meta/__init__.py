"""The tests of the suite itself: its cases, its faults, its report."""
