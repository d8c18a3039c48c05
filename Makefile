# Every target sets up what it needs. `make demo` and `make test` are all a newcomer has to know.

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
LOCKED := pyproject.toml requirements-ci.lock
CORE := core expression graph/test_check.py graph/test_document.py numeric/test_ieee.py \
	operators/test_operators_declared.py project/test_imports.py project/test_style.py \
	runtime/test_session.py runtime/test_state_by_name.py tables/test_tables.py \
	conformance/test_edge.py

.PHONY: demo check test lint bench torture mutation promises soak constructors pages lock clean

demo: .venv/ready-to-run
	@mkdir -p out
	$(BIN)/rtbot run graphs/bollinger.yaml graphs/data/prices.csv -o out/bollinger.csv \
		--plot out/bollinger.svg
	$(BIN)/rtbot draw graphs/bollinger.yaml -o out/bollinger-graph.svg
	@echo
	@echo "out/bollinger.csv, the first rows:"
	@head -n 6 out/bollinger.csv
	@echo "and the last:"
	@tail -n 5 out/bollinger.csv
	@echo
	@echo "out/bollinger.svg        the bands as a chart"
	@echo "out/bollinger-graph.svg  the graph that made them"

test: .venv/ready-to-develop out/editor/ready
	@$(BIN)/python -m tests.spark.java
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --max-worker-restart 0

# The quick check: style, types, the import rule and the core tests, without PySpark, Java and npm.
check: .venv/ready-to-check
	$(BIN)/ruff check .
	$(BIN)/mypy rtbot --follow-imports silent
	RTBOT_INTERPRET=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(addprefix tests/,$(CORE))

lint: .venv/ready-to-develop
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: .venv/ready-to-develop
	$(BIN)/python -m benchmarks

torture: .venv/ready-to-develop
	$(BIN)/python -m tests.torture

mutation: .venv/ready-to-develop
	$(BIN)/python -m tests.mutation_testing

# All that docs/guarantees.md promises, tried as often as MINUTES allow.
promises: .venv/ready-to-develop
	$(BIN)/python -m tests.promises $(if $(MINUTES),--minutes $(MINUTES))

soak: .venv/ready-to-develop
	$(BIN)/python -m tests.soak --chart out/soak.svg

# The stub of typed constructors; a test compares it with the declarations.
constructors: .venv/ready-to-develop
	@mkdir -p out
	$(BIN)/python -m rtbot.builder.stub > out/ops.pyi && mv out/ops.pyi rtbot/ops.pyi

# Pages that are made from the declarations, and the pictures; tests compare them.
pages: .venv/ready-to-develop
	$(BIN)/python -m tests.pages
	$(BIN)/python -m tests.mistakes

# What the program needs, and what its developers need: both at the versions of the lock. PySpark
# comes as source; --use-pep517 makes older pips, too, keep the wheel that they build of it.
.venv/ready-to-run: $(LOCKED)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint requirements-ci.lock --editable '.[sql]'
	@touch $@

.venv/ready-to-check: $(LOCKED)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint requirements-ci.lock --editable '.[dev]'
	@touch $@

.venv/ready-to-develop: .venv/ready-to-check
	@echo "PySpark is 430 MB: the first time, this takes a minute or more"
	$(BIN)/pip install --quiet --use-pep517 --constraint requirements-ci.lock \
		--editable '.[dev,spark-dev]'
	@touch $@

# The language server that tests/editor asks; without an npm that gets it, that test is skipped.
out/editor/ready: tests/editor/package.json tests/editor/package-lock.json
	@mkdir -p out/editor && cp $^ out/editor/
	@if npm ci --prefix out/editor --ignore-scripts --no-audit --no-fund --loglevel error \
		--fetch-retries 1 --fetch-retry-mintimeout 1000; \
	then touch $@; else echo "no npm, or no network: tests/editor will be skipped"; fi

# Resolve the newest versions that pyproject.toml allows and write them down.
lock:
	rm -rf out/lock && mkdir -p out
	$(PYTHON) -m venv out/lock
	out/lock/bin/pip install --quiet --use-pep517 '.[dev,spark-dev]'
	( sed -n '/^#/p' requirements-ci.lock; out/lock/bin/pip freeze --exclude rtbot-graphs ) \
		> out/requirements-ci.lock
	mv out/requirements-ci.lock requirements-ci.lock
	rm -rf out/lock

clean:
	rm -rf .venv out dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
