"""language_model before each of the five judges: a module each."""
