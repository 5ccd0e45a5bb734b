# Both commands set up what they need: `make lesson` and `make test`.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: lesson test fuzz

lesson: .venv/stamp
	$(BIN)/python attention.py

# A process for each core, and one thread in each: they share the files out.
test: .venv/stamp
	$(BIN)/mypy --strict numpy_impl torch_impl parity_tests attention.py
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

# 10 000 bad calls a side, and new inputs for every law.
fuzz: .venv/stamp
	$(BIN)/python -m pytest --hypothesis-profile=long parity_tests/test_fuzz.py

# Made anew, in place, whenever one of the two files changes.
.venv/stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --constraint constraints.txt --editable '.[test]'
	touch $@
