# The verbs of this project. `make demo` and `make test` need git, make, a C++ compiler and
# Python 3.11 or newer; the Neo4j half of the tests also a JDK 17 and Maven.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Whatever is installed or built with is locked by its hash: what builds pcst-fast and this package
# goes in first, so that nothing is fetched to build them. ENVIRONMENT/install.log tells what was done.
LOCKED := tools/install_locked.sh
BUILT := --no-binary pcst-fast
EDITABLE := -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable .
ADAPTERS := $(VENV)/adapters
EVALUATORS := $(VENV)/evaluators
RETRIEVERS := $(VENV)/retrievers

LOCK = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-package graph-service --no-header --no-annotate

CLIENTS := .cache/clients
EXPLORER := .cache/explorer

CLUSTER := $(VENV)/cluster

.PHONY: help setup demo check test test-clients kill-test attack test-models mutants bench serve lock schema clean release
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
	$(BIN)/python -m tools.released_schema

test: $(if $(FILE),$(VENV)/.test,check) ## All checks and tests; one file: make test FILE=tests/unit/test_x.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest $(or $(FILE),-n 3 --dist loadfile)

test-clients: $(VENV)/.test ## Run clients that others wrote, in Chromium too (needs Node 20, npm)
	@$(MAKE) --no-print-directory --jobs 2 $(addprefix $(CLIENTS)/.,javascript mcp example gql codegen)
	GRAPH_SERVICE_TEST_CLIENTS=$(CLIENTS) $(BIN)/pytest -n 2 --dist loadfile tests/clients

.PHONY: test-explorer
test-explorer: $(EXPLORER)/.npm $(EXPLORER)/.wheel ## Try the explorer in Chromium, from an installed wheel (needs Node 20, npm)
	node $(EXPLORER)/node_modules/typescript/bin/tsc -p tests/explorer
	GRAPH_SERVICE_TEST_EXPLORER=$(abspath $(EXPLORER)) $(EXPLORER)/bin/pytest -c tests/explorer/pytest.ini \
	  --rootdir tests/explorer --confcutdir tests/explorer tests/explorer

kill-test: $(VENV)/.test ## Kill loads 100 times on each store
	GRAPH_SERVICE_TEST_KILLS=100 $(BIN)/pytest -n 2 tests/contract/test_contract_load_kills.py

attack: $(VENV)/.test ## Attack a server of this machine, and print what it withstood
	$(BIN)/python -m tools.attack

test-models: $(VENV)/.models ## Compare the embedders with sentence-transformers (5 GB with torch)
	GRAPH_SERVICE_TEST_MODELS=1 $(BIN)/pytest tests/models

.PHONY: test-w3c
test-w3c: $(VENV)/.test ## Run W3C's RDF 1.1 and 1.2 suites: DATA=../shared/data (half a minute)
	GRAPH_SERVICE_TEST_W3C=1 GRAPH_SERVICE_TEST_DATA=$(abspath $(or $(DATA),$(GRAPH_SERVICE_TEST_DATA),../shared/data)) \
	  $(BIN)/pytest -s tests/w3c

.PHONY: train-scorer
SCORER := $(or $(OUT),build/cross-encoder)
PUBLISHED := $(or $(DATA),../shared/data)
train-scorer: $(VENV)/.models $(SCORER)/recorded.jsonl ## Train the cross-encoder, on a GPU or on two cores: DATA=../shared/data OUT=build/cross-encoder
	$(BIN)/python -m tools.cross_encoder $(PUBLISHED)/question_relations/questions.jsonl.xz \
	  $(SCORER)/recorded.jsonl --data $(PUBLISHED) --out $(SCORER)/cross_encoder.npz $(OPTIONS)

$(SCORER)/recorded.jsonl: | $(VENV)/.models
	mkdir -p $(SCORER)/stores
	$(BIN)/python -m tools.cross_encoder.record $(PUBLISHED) --out $@.partial --stores $(SCORER)/stores
	mv $@.partial $@

.PHONY: train-prior train-confidence train-alignment
LEARNED := graph_service/retrieve/learned
train-prior: $(VENV)/.test ## Train the prior of relations that ships: DATA=../shared/data (a minute)
	$(BIN)/python -m tools.relation_prior $(or $(DATA),../shared/data) --out $(LEARNED)/relation_prior.npz

train-confidence: $(VENV)/.test ## Train the confidence of answers that ships: DATA=../shared/data (30 minutes); ONLY=computed keeps the other weights
	$(BIN)/python -m tools.confidence $(or $(DATA),../shared/data) --out $(LEARNED)/confidence.json \
	  $(if $(ONLY),--only $(ONLY)) $(if $(RECORD),--record $(RECORD))

train-alignment: $(VENV)/.models ## Learn what maps the multilingual encoder's vectors among MiniLM's: DATA=../shared/data (2 minutes)
	$(BIN)/python -m tools.alignment $(or $(DATA),../shared/data) --out graph_service/embed/alignment.npz

.PHONY: test-adapters
test-adapters: $(ADAPTERS)/.installed $(EVALUATORS)/.installed ## Test the adapters in the frameworks themselves, and object storage
	GRAPH_SERVICE_TEST_ADAPTERS=1 $(ADAPTERS)/bin/pytest -o asyncio_mode=auto \
	  -o asyncio_default_fixture_loop_scope=function -o filterwarnings= tests/adapters
	GRAPH_SERVICE_TEST_EVALUATORS=1 $(EVALUATORS)/bin/pytest -o filterwarnings= tests/evaluators

.PHONY: test-cluster
test-cluster: $(CLUSTER)/.installed ## Test views on Sail and on Spark: ENGINES=sail needs no Java
	@set -e; for engine in $(or $(ENGINES),sail 'local[2]'); do \
	  GRAPH_SERVICE_TEST_CLUSTER=$$engine $(CLUSTER)/bin/pytest -o filterwarnings= tests/cluster; \
	done

mutants: $(VENV)/.mutants ## Count the random faults that the tests find: make mutants SEED=1 N=300
	nice $(BIN)/python -m tools.mutants --seed $(or $(SEED),1) --count $(or $(N),300) $(OPTIONS)

.PHONY: simulate-statistics
simulate-statistics: $(VENV)/.test ## Simulate coverage of intervals and errors of tests of experiments: SETS=2000
	$(BIN)/python -m tools.inference --sets $(or $(SETS),2000)

.PHONY: simulate-judges
simulate-judges: $(VENV)/.test ## Simulate coverage of calibrated means of judges: SETS=2000
	$(BIN)/python -m tools.judges --sets $(or $(SETS),2000)

bench: $(VENV)/.test ## Measure speed beside references: make bench DATA=../shared/data
	$(BIN)/python -m benchmarks speed --data $(or $(DATA),../shared/data)

.PHONY: leaderboard
leaderboard: $(VENV)/.test ## Ask our retrievers and published ones the same frozen sets, an hour: DATA=../shared/data
	$(BIN)/python -m benchmarks leaderboard --data $(or $(DATA),../shared/data) $(OPTIONS)

.PHONY: retrievers
retrievers: $(addprefix $(RETRIEVERS)/.,$(or $(ONLY),graphrag langchain lightrag pyg)) ## Install published retrievers for the leaderboard, each in an environment of its own (6 GB with torch): ONLY=graphrag

.PHONY: measurements
measurements: $(VENV)/.test ## Make the figures of docs/measurements anew, an hour: DATA=../shared/data ONLY=linking
	$(BIN)/python -m tools.measurements --data $(or $(DATA),../shared/data) $(addprefix --only ,$(ONLY))

.PHONY: docs
docs: $(VENV)/.docs ## Build the site of the documents into build/site, links and anchors checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

serve: setup ## Serve GraphQL on http://127.0.0.1:8000/graphql
	$(BIN)/graph-service serve

schema: $(VENV)/.test ## Write the GraphQL schema and the page of options anew
	$(BIN)/python -m graph_service.api.schema > docs/schema.graphql
	$(BIN)/python -m graph_service.cli.tables > docs/reference/options.md

release: check ## Check against the last release, then record this one's schema and store
	$(BIN)/python -m tools.release

lock: $(VENV)/.test ## Resolve all dependencies anew, with hashes
	$(LOCK) requirements/demo.in -o requirements/demo.txt
	$(LOCK) requirements/test.in -c requirements/demo.txt -o requirements/test.txt
	$(LOCK) requirements/models.in -c requirements/test.txt -o requirements/models.txt
	$(LOCK) requirements/adapters.in -c requirements/test.txt -o requirements/adapters.txt
	$(LOCK) requirements/evaluators.in -o requirements/evaluators.txt
	$(LOCK) requirements/cluster.in -c requirements/test.txt -o requirements/cluster.txt
	$(LOCK) requirements/mutants.in -c requirements/test.txt -o requirements/mutants.txt
	for name in graphrag langchain lightrag pyg; do $(LOCK) \
	  benchmarks/retrievers/environments/$$name.in -o benchmarks/retrievers/environments/$$name.txt; done
	$(LOCK) requirements/docs.in -c requirements/test.txt -o requirements/docs.txt
	$(LOCK) requirements/build.in -c requirements/models.txt -o requirements/build.txt

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: requirements/build.txt requirements/demo.txt pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies into $(VENV) (some 135 MB, once) ..."
	@$(LOCKED) $(VENV) requirements/demo.txt $(BUILT)
	@$(BIN)/python $(EDITABLE)
	@touch $@

$(VENV)/.test: requirements/build.txt requirements/test.txt pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies of the tests into $(VENV) ..."
	@$(LOCKED) $(VENV) requirements/test.txt $(BUILT)
	@$(BIN)/python $(EDITABLE)
	@touch $@ $(VENV)/.demo

$(VENV)/.models: requirements/build.txt requirements/models.txt pyproject.toml | $(BIN)/python
	@echo "Installing sentence-transformers and torch into $(VENV) (5 GB on Linux) ..."
	@$(LOCKED) $(VENV) requirements/models.txt $(BUILT)
	@$(BIN)/python $(EDITABLE)
	@touch $@ $(VENV)/.demo $(VENV)/.test

$(VENV)/.mutants: requirements/build.txt requirements/mutants.txt pyproject.toml | $(BIN)/python
	@echo "Installing mutmut and coverage.py into $(VENV) ..."
	@$(LOCKED) $(VENV) requirements/mutants.txt $(BUILT)
	@$(BIN)/python $(EDITABLE)
	@touch $@ $(VENV)/.demo $(VENV)/.test

$(VENV)/.docs: requirements/build.txt requirements/docs.txt pyproject.toml | $(BIN)/python
	@echo "Installing mkdocs into $(VENV) ..."
	@$(LOCKED) $(VENV) requirements/docs.txt $(BUILT)
	@$(BIN)/python $(EDITABLE)
	@touch $@ $(VENV)/.demo $(VENV)/.test

# Without their scripts: nothing that is installed runs before it is asked to. Each has a folder
# beside the others, so that no package of one is found by another that lacks it.
$(CLIENTS)/.javascript: tests/clients/package.json tests/clients/package-lock.json
$(CLIENTS)/.mcp: tests/clients/mcp/package.json tests/clients/mcp/package-lock.json
$(CLIENTS)/.example: docs/typescript/package.json docs/typescript/package-lock.json
$(CLIENTS)/.javascript $(CLIENTS)/.mcp $(CLIENTS)/.example:
	@echo "Installing what is locked in $(<D) into $(CLIENTS) (some 600 MB in all, once) ..."
	@mkdir -p $(subst /.,/,$@)
	@cp $^ $(subst /.,/,$@)
	@npm ci --prefix $(subst /.,/,$@) --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(CLIENTS)/.%: tests/clients/requirements/%.txt | $(BIN)/python
	@echo "Installing the locked Python clients into $(CLIENTS)/$* ..."
	@$(BIN)/python -m venv $(CLIENTS)/$*
	@$(LOCKED) $(CLIENTS)/$* $< --only-binary :all:
	@touch $@

$(EXPLORER)/.npm: tests/explorer/package.json tests/explorer/package-lock.json
	@mkdir -p $(EXPLORER)
	@cp $^ $(EXPLORER)
	@npm ci --prefix $(EXPLORER) --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(EXPLORER)/.installed: requirements/build.txt requirements/demo.txt tests/explorer/requirements.txt | $(BIN)/python
	@echo "Installing Playwright and what the wheel needs into $(EXPLORER) (some 250 MB, once) ..."
	@$(BIN)/python -m venv $(EXPLORER)
	@$(LOCKED) $(EXPLORER) requirements/demo.txt $(BUILT)
	@$(LOCKED) $(EXPLORER) tests/explorer/requirements.txt --only-binary :all:
	@touch $@

# The wheel as users get it: what it lacks is not there.
$(EXPLORER)/.wheel: $(EXPLORER)/.installed $(shell git ls-files graph_service loaders queries pyproject.toml 2>/dev/null)
	@$(EXPLORER)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --force-reinstall .
	@touch $@

# An environment of its own: LangChain's tests bring plugins that change how pytest runs all others.
$(ADAPTERS)/.installed: requirements/build.txt requirements/adapters.txt pyproject.toml | $(BIN)/python
	@echo "Installing LangChain, LlamaIndex and Haystack into $(ADAPTERS) (700 MB) ..."
	@$(BIN)/python -m venv $(ADAPTERS)
	@$(LOCKED) $(ADAPTERS) requirements/adapters.txt $(BUILT)
	@$(ADAPTERS)/bin/python $(EDITABLE)
	@touch $@

# An environment of its own: deepeval takes older versions than the rest, and brings pytest's plugins.
$(EVALUATORS)/.installed: requirements/build.txt requirements/evaluators.txt pyproject.toml | $(BIN)/python
	@echo "Installing ragas, deepeval and inspect_ai into $(EVALUATORS) (1.1 GB) ..."
	@$(BIN)/python -m venv $(EVALUATORS)
	@$(LOCKED) $(EVALUATORS) requirements/evaluators.txt $(BUILT)
	@$(EVALUATORS)/bin/python $(EDITABLE)
	@touch $@

# An environment for each package: none is a dependency of ours. pcst-fast's wheel is wrong.
$(RETRIEVERS)/.%: requirements/build.txt benchmarks/retrievers/environments/%.txt | $(BIN)/python
	@echo "Installing $* into $(RETRIEVERS)/$* ..."
	@$(BIN)/python -m venv $(RETRIEVERS)/$*
	@$(LOCKED) $(RETRIEVERS)/$* benchmarks/retrievers/environments/$*.txt $(BUILT)
	@touch $@

# An environment of its own: Spark with its server is 500 MB and another package of its client's name.
$(CLUSTER)/.installed: requirements/build.txt requirements/cluster.txt pyproject.toml | $(BIN)/python
	@echo "Installing Sail and Spark into $(CLUSTER) (1 GB) ..."
	@$(BIN)/python -m venv $(CLUSTER)
	@$(LOCKED) $(CLUSTER) requirements/cluster.txt $(BUILT)
	@$(CLUSTER)/bin/python $(EDITABLE)
	@touch $@
