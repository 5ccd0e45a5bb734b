"""The lesson, to run: `.venv/bin/python attention.py --help` says how."""

from attention_twice.__main__ import start

if __name__ == "__main__":
    start("attention.py")
