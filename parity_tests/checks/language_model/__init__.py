"""language_model: a module for each of the five judges."""
