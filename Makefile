# certselect: `make` lists the targets; `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
GRID ?= coarse
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
TWO_THREADS := OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 NUMBA_NUM_THREADS=2

.DEFAULT_GOAL := help
.PHONY: help demo test test-browser chromium lint format types unit docs attack bench bench-all bench-check bench-extra busy cluster measures scaling outcome proven paper dist clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: $(READY) ## choose features of an embedded data set and show why those
	$(BIN)/certselect demo

test: lint ## everything that must pass: style, types, documentation, tests (10 minutes on two cores)
	@$(MAKE) --no-print-directory --jobs 3 types docs unit

test-browser: $(READY) chromium ## the reports in a real browser, which is installed if need be; part of `make test` where it is there
	$(ONE_THREAD) $(BIN)/python -m pytest -m browser tests/report/test_browser.py

# Debian's; elsewhere it has to be there. Whoever may not install it is told to.
chromium:
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then :; \
	elif [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq chromium; \
	elif sudo -n true 2> /dev/null; then sudo apt-get update -qq && sudo apt-get install -y -qq chromium; \
	else echo "The tests in a browser need chromium: apt-get install chromium, as root."; exit 1; fi

lint: $(READY) ## style, without changing a file
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## static types of the package, the experiments and the benchmarks
	$(BIN)/pyright

unit: $(READY) ## the tests, on all cores; `.venv/bin/python -m pytest FILE` runs some of them
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal -m "not alone"
	$(BIN)/python -m pytest -m alone tests/test_first_call.py

docs: $(READY) ## the documentation, with the gallery run and the reference of all functions, into docs/_build/html
	rm -rf docs/_build docs/api docs/gallery
	$(ONE_THREAD) $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs docs/_build/html

attack: $(READY) ## try to break every claim: 10^5 problems, all mutated files, hostile inputs, on all cores (under an hour)
	$(ONE_THREAD) PYTHONPATH=tests $(BIN)/python -m attack

format: $(READY) ## rewrite the files in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) bench-extra ## everybody side by side, as ratios in one run, and docs/benchmarks.md (10 minutes, 12 with R's praznik); CERTSELECT_DATA as below
	$(TWO_THREADS) $(BIN)/python benchmarks/bench.py short

bench-all: $(READY) bench-extra ## the same on every table and with every contestant, however slow (hours)
	$(TWO_THREADS) $(BIN)/python benchmarks/bench.py all

bench-check: $(READY) bench-extra ## the short set again; fails where a ratio to a contestant is worse than the one kept
	$(TWO_THREADS) $(BIN)/python benchmarks/bench.py check

# Whoever cannot be installed is left out of the benchmark with a message.
bench-extra: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]' \
	|| echo "Not all contestants could be installed; those that are there take part."

busy: $(READY) ## time fits beside programs that use the cores as well (5 minutes, on a quiet machine)
	$(BIN)/python benchmarks/busy.py

cluster: $(READY) ## time two workers of a Dask cluster beside one, and kill some (5 minutes, on a quiet machine)
	$(ONE_THREAD) $(BIN)/python benchmarks/cluster.py

measures: $(READY) ## measure errors against closed forms and how well features predict, and write docs/data.md
	$(ONE_THREAD) $(BIN)/python benchmarks/measure_errors.py
	$(ONE_THREAD) $(BIN)/python benchmarks/measure_outcomes.py

outcome: $(READY) ## measure how well chosen features predict, ours and other packages', and write docs/outcome.md; CERTSELECT_DATA as below
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[outcome]'
	$(ONE_THREAD) $(BIN)/python benchmarks/outcome.py

scaling: $(READY) ## measure what tables in blocks cost (15 minutes)
	$(BIN)/python benchmarks/scaling.py

proven: $(READY) ## measure every search against the proven best; CERTSELECT_DATA names the folder of data sets
	$(BIN)/python benchmarks/proven.py

paper: $(READY) ## run the paper's experiments again and write docs/reproduction.md; GRID=quick (10 minutes), coarse (hours) or full
	$(BIN)/python -m experiments all --grid $(GRID)

dist: $(READY) ## build the wheel and the source distribution into dist/
	$(BIN)/python -m build --no-isolation

clean: ## remove the environment and everything built
	rm -rf $(VENV) dist build docs/_build docs/api docs/gallery certselect-demo.html .pytest_cache .ruff_cache .hypothesis

# The environment: pinned versions, installed once and again when a pin or a dependency changes.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "certselect needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)
