"""`python -m attention_twice`: the program, as `python attention.py`."""

from .cli import start

if __name__ == "__main__":
    start()
