"""A third version, a port: how it is loaded, checked and begun."""
