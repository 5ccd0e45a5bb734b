# Each command sets up what it needs.
PYTHON ?= python3
BIN = .venv/bin

# Where the book is built.
SITE = .venv/site

.PHONY: lesson test ports libraries docs test-docs fuzz

lesson: .venv/stamp
	$(BIN)/python attention.py

# A process for each core, and one thread in each: they share the files out.
test: .venv/stamp
	$(BIN)/mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile \
		-m 'not ports'

# What a third version meets: NumPy's side on array_api_strict and on JAX,
# every vector answered by Node.js, and packages that hang, crash and lie.
ports: .venv/stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	$(BIN)/python -m pytest -n auto --maxprocesses 2 --dist load -m ports
	rm -rf .venv/vectors .venv/answers
	$(BIN)/python -m parity_tests export .venv/vectors
	if command -v node; then \
		node docs/live/answer_vectors.mjs .venv/vectors .venv/answers && \
		$(BIN)/python -m parity_tests score .venv/vectors .venv/answers; \
	fi

# The attention functions of other libraries: 2 GB of them, and the pages.
libraries: .venv/stamp
	$(BIN)/python -m pip install --constraint constraints.txt \
		--editable '.[libraries]'
	$(BIN)/python -m parity_tests libraries --pages docs
	$(BIN)/python docs/_ext/book/matched.py --matched libraries

# The book, in both languages, into .venv/site; warnings are errors.
docs: .venv/stamp
	$(BIN)/python docs/_ext/book/matched.py
	rm -rf $(SITE)
	$(BIN)/sphinx-build -q -W --keep-going -j auto -c docs \
		-d $(SITE)/../doctrees/en \
		-D language=en docs/en $(SITE)/en
	$(BIN)/sphinx-build -q -W --keep-going -j auto -c docs \
		-d $(SITE)/../doctrees/zh \
		-D language=zh_TW docs/zh_Hant $(SITE)/zh_Hant
	cp docs/_ext/book/start.html $(SITE)/index.html
	@echo "the book: $(SITE)/index.html"

# The built book in a browser, where there is one.
test-docs: docs .venv/browser
	$(BIN)/python -m pytest -q -rs -n auto --maxprocesses 4 docs/tests

.venv/browser: .venv/stamp
	$(BIN)/python -m pip install --constraint constraints.txt \
		--editable '.[browser]'
	touch $@

# 10 000 bad calls a side, and new inputs for every law.
fuzz: .venv/stamp
	$(BIN)/python -m pytest --hypothesis-profile=long parity_tests/tests/versions/test_fuzz.py

# Made anew, in place, whenever one of the two files changes.
.venv/stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --constraint constraints.txt --editable '.[test]'
	touch $@
