"""The suite that holds the two versions together.

It alone imports both. Run it with `pytest`, or with `pytest --pyargs
parity_tests` where the packages are installed.
"""
