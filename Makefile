# Every target sets up what it needs. `make demo` and `make test` are all a newcomer has to know.

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
LOCKED := pyproject.toml requirements-ci.lock

.PHONY: demo test lint bench torture sabotage lock clean

demo: .venv/ready-to-run
	@mkdir -p out
	$(BIN)/rtbot run graphs/bollinger.yaml graphs/data/prices.csv -o out/bollinger.csv
	@echo
	@echo "out/bollinger.csv, the first rows:"
	@head -n 6 out/bollinger.csv
	@echo "and the last:"
	@tail -n 5 out/bollinger.csv

test: .venv/ready-to-develop
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: .venv/ready-to-develop
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: .venv/ready-to-develop
	$(BIN)/python -m benchmarks

torture: .venv/ready-to-develop
	$(BIN)/python -m tests.torture

sabotage: .venv/ready-to-develop
	$(BIN)/python -m tests.sabotage

# What the program needs, and what its developers need: both at the versions of the lock.
.venv/ready-to-run: $(LOCKED)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint requirements-ci.lock --editable .
	@touch $@

.venv/ready-to-develop: $(LOCKED)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint requirements-ci.lock --editable '.[dev]'
	@touch $@

# Resolve the newest versions that pyproject.toml allows and write them down.
lock:
	rm -rf out/lock && mkdir -p out
	$(PYTHON) -m venv out/lock
	out/lock/bin/pip install --quiet '.[dev]'
	( sed -n '/^#/p' requirements-ci.lock; out/lock/bin/pip freeze --exclude rtbot-graphs ) \
		> out/requirements-ci.lock
	mv out/requirements-ci.lock requirements-ci.lock
	rm -rf out/lock

clean:
	rm -rf .venv out dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
