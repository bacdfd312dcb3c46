# The only list of commands. `make demo` and `make test` set up all they need by themselves.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup java demo test check conformance score soak fmt golden bench bench-cpg bench-ask bench-calls dist docs lock clean

help:            ## list the commands
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 14

java:            ## stop early, with one sentence, where there is no Java 17 or newer
	@sh scripts/require-java.sh

setup: $(READY)  ## make the locked environment in .venv

$(READY): requirements-dev.lock pyproject.toml
	@sh scripts/require-java.sh
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Headwater needs Python 3.11 or newer; $(PYTHON) is older. Install it and run make with PYTHON=python3.11." >&2; exit 1; }
	@echo "setting up $(VENV) from requirements-dev.lock (once; a few minutes)"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m pip check >/dev/null
	@$(BIN)/python -m compileall -q -x template src
	@touch $(READY)

demo: java $(READY)   ## build the example and this repository's code graph on embedded Spark, and ask it
	@$(BIN)/headwater build examples/orders
	@$(BIN)/headwater build .
	@$(BIN)/headwater query "SELECT node_kind, count(*) AS nodes FROM nodes GROUP BY ALL ORDER BY nodes DESC LIMIT 8" .

test: java $(READY)   ## the whole suite
	@mkdir -p build/test-results
	@$(BIN)/python -m pytest --junit-xml=build/test-results/junit.xml

check: $(READY)  ## format, lint, types, import contract, house tests
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -q tests/house

conformance: java $(READY)  ## Delta tables that others wrote, in SUITES, give their rows or are refused
	@$(BIN)/python scripts/conformance.py "$(SUITES)"

score: java $(READY)   ## call graphs of programs that others wrote, in SUITES, against what they must be
	@$(BIN)/python scripts/score.py "$(SUITES)"

soak: java $(READY)   ## kill writers in the middle of KILLS commits (default: 50); SEED repeats a run
	@$(BIN)/python scripts/soak.py $(if $(SEED),--seed $(SEED)) $(if $(KILLS),--kills $(KILLS))

fmt: $(READY)    ## format and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

golden: java $(READY) ## write the golden files anew; read the difference before committing it
	@$(BIN)/python -m pytest -q --snapshot-update tests

bench: java $(READY)  ## ratios, plain PySpark against Headwater, interleaved in one run
	@$(BIN)/python bench/startup.py
	@$(BIN)/python bench/planning.py
	@$(BIN)/python bench/ten_views.py
	@$(BIN)/python bench/changed_rows.py
	@$(BIN)/python bench/growth.py

bench-cpg: java $(READY)  ## the code graph of REPO (default: Django): from nothing, a file changed, nothing changed; or of COPIES=1,2,4,8
	@$(BIN)/python bench/graph.py $(if $(COPIES),--copies $(COPIES)) $(REPO)

bench-ask: java $(READY)  ## questions of the code graph of REPO (default: Django's source): in SQL, and of a server
	@$(BIN)/python bench/questions.py $(REPO)

bench-calls: $(READY)  ## of the calls that test suites of three packages execute, how many the graph has
	@$(BIN)/python bench/executed_calls.py

dist: java $(READY)   ## wheel and sdist, then a clean environment with the wheel builds the example
	@$(BIN)/python scripts/dist.py

docs: $(READY)   ## write the generated reference pages anew
	@$(BIN)/python scripts/reference.py

lock: $(READY)   ## resolve the lock files anew
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml --group dev -o requirements-dev.lock

clean:           ## remove what is made here; the user's cache folder stays
	@rm -rf build dist $(VENV) .pytest_cache .ruff_cache .import_linter_cache .hypothesis
