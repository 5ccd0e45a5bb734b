# Both commands set up what they need: `make lesson` and `make test`.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: lesson test

lesson: .venv/stamp
	$(BIN)/python attention.py

test: .venv/stamp
	$(BIN)/mypy --strict numpy_impl torch_impl parity_tests attention.py
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python -m pytest

# Made anew, in place, whenever one of the two files changes.
.venv/stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --constraint constraints.txt --editable '.[test]'
	touch $@
