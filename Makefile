# The verbs of this project. `make demo` and `make test` need git, make, a C++ compiler and
# Python 3.11 or newer; the Neo4j half of the tests also a JDK 17 and Maven.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Whatever pip installs or builds with is locked by its hash: what builds pcst-fast and this package
# goes in first, so pip fetches nothing to build them. install.log tells all that pip did.
INSTALL := $(PIP) install --quiet --progress-bar off --log $(VENV)/install.log --no-deps
LOCKED := $(INSTALL) --require-hashes
BUILT := --no-build-isolation --no-binary pcst-fast

LOCK = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-package graph-service --no-header --no-annotate

.PHONY: help setup demo check test kill-test attack test-models mutants bench serve lock schema clean
help: ## List the verbs
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(VENV)/.demo ## Make the virtual environment of the first answer
demo: setup ## Load the slice, retrieve, answer, score, perturb
	@$(BIN)/graph-service demo

check: $(VENV)/.test ## Format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(if $(FILE),$(VENV)/.test,check) ## All checks and tests; one file: make test FILE=tests/unit/test_x.py
	$(BIN)/pytest $(or $(FILE),-n 2 --dist loadfile)

kill-test: $(VENV)/.test ## Kill loads 100 times on each store
	GRAPH_SERVICE_TEST_KILLS=100 $(BIN)/pytest -n 2 tests/contract/test_contract_load_kills.py

attack: $(VENV)/.attack ## Attack a server of this machine, and print what it withstood
	$(BIN)/python tools/attack.py

test-models: $(VENV)/.models ## Compare the embedders with sentence-transformers (5 GB with torch)
	GRAPH_SERVICE_TEST_MODELS=1 $(BIN)/pytest tests/models

mutants: $(VENV)/.mutants ## Count the random faults that the tests find: make mutants SEED=1 N=300
	nice $(BIN)/python -m tools.mutants --seed $(or $(SEED),1) --count $(or $(N),300) $(OPTIONS)

bench: $(VENV)/.test ## Measure speed beside references: make bench DATA=../shared/data
	$(BIN)/graph-service bench speed --data $(or $(DATA),../shared/data)

serve: setup ## Serve GraphQL on http://127.0.0.1:8000/graphql
	$(BIN)/graph-service serve

schema: $(VENV)/.test ## Write the GraphQL schema and the page of options anew
	$(BIN)/python -m graph_service.api.schema > docs/schema.graphql
	$(BIN)/python -m graph_service.cli.tables > docs/options.md

lock: $(VENV)/.test ## Resolve all dependencies anew, with hashes
	$(PIP) install --quiet uv
	$(LOCK) requirements/demo.in -o requirements/demo.txt
	$(LOCK) requirements/test.in -c requirements/demo.txt -o requirements/test.txt
	$(LOCK) requirements/attack.in -c requirements/test.txt -o requirements/attack.txt
	$(LOCK) requirements/models.in -c requirements/test.txt -o requirements/models.txt
	$(LOCK) requirements/mutants.in -c requirements/test.txt -o requirements/mutants.txt
	$(LOCK) requirements/build.in -c requirements/models.txt -o requirements/build.txt

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: requirements/build.txt requirements/demo.txt pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies into $(VENV) (some 150 MB, once) ..."
	@$(LOCKED) -r requirements/build.txt
	@$(LOCKED) $(BUILT) -r requirements/demo.txt
	@$(INSTALL) $(BUILT) --editable .
	@touch $@

$(VENV)/.test: requirements/build.txt requirements/test.txt pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies of the tests into $(VENV) ..."
	@$(LOCKED) -r requirements/build.txt
	@$(LOCKED) $(BUILT) -r requirements/test.txt
	@$(INSTALL) $(BUILT) --editable .
	@touch $@ $(VENV)/.demo

$(VENV)/.attack: requirements/build.txt requirements/attack.txt pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies of the attacks into $(VENV) ..."
	@$(LOCKED) -r requirements/build.txt
	@$(LOCKED) $(BUILT) -r requirements/attack.txt
	@$(INSTALL) $(BUILT) --editable .
	@touch $@ $(VENV)/.demo $(VENV)/.test

$(VENV)/.models: requirements/build.txt requirements/models.txt pyproject.toml | $(BIN)/python
	@echo "Installing sentence-transformers and torch into $(VENV) (5 GB on Linux) ..."
	@$(LOCKED) -r requirements/build.txt
	@$(LOCKED) $(BUILT) -r requirements/models.txt
	@$(INSTALL) $(BUILT) --editable .
	@touch $@ $(VENV)/.demo $(VENV)/.test

$(VENV)/.mutants: requirements/build.txt requirements/mutants.txt pyproject.toml | $(BIN)/python
	@echo "Installing mutmut and coverage.py into $(VENV) ..."
	@$(LOCKED) -r requirements/build.txt
	@$(LOCKED) $(BUILT) -r requirements/mutants.txt
	@$(INSTALL) $(BUILT) --editable .
	@touch $@ $(VENV)/.demo $(VENV)/.test
