"""The cases as files for any language, and what grades an answer."""
