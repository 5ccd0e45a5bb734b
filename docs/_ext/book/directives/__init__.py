"""The directives of a page, a module for each kind."""
