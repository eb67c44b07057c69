# Everything a user or developer does daily. `make` alone lists it. Needs Python 3.11 or newer, nothing else.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help

help: ## List these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 14

demo: $(VENV)/ready ## The whole pipeline on a local stack, on the bundled example site
	@$(BIN)/sandcrawler demo

demo-w3c: $(VENV)/ready ## From a source to the tables: harvest, index, requests, ingest, join (on the loopback)
	@$(BIN)/python -m sandcrawler.demo.w3c

test: $(VENV)/ready ## All tests, on the real Kafka, PostgreSQL and SeaweedFS
	@cd python && ../$(BIN)/python -m pytest

test-fast: $(VENV)/ready ## The tests that need no server
	@cd python && ../$(BIN)/python -m pytest -m "not stack and not machine"

lint: $(VENV)/ready ## ruff, mypy --strict, yamllint and ansible-lint
	@cd python && ../$(BIN)/ruff check . && ../$(BIN)/ruff format --check . && ../$(BIN)/mypy
	@$(BIN)/yamllint --strict .
	@cd ansible && PATH="$(CURDIR)/$(BIN):$$PATH" ansible-lint -q

format: $(VENV)/ready ## Format the code
	@cd python && ../$(BIN)/ruff format . && ../$(BIN)/ruff check --fix .

schemas: $(VENV)/ready ## Write kafka/schemas/ anew from the models
	@cd python && ../$(BIN)/python -m sandcrawler.schemas

bench: $(VENV)/ready ## All benchmarks; each prints JSON lines
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r python/benchmarks/requirements.lock
	@cd python && for each in benchmarks/*.py; do echo "== $$each" >&2; \
	    ../$(BIN)/python -m benchmarks.$$(basename $$each .py) || exit 1; done

lock: $(VENV)/ready ## Pin the newest allowed versions in python/requirements.lock
	@$(BIN)/pip install --quiet uv
	@cd python && ../$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
	    --no-emit-index-url --no-header --extra stack --extra test --extra export --extra deploy \
	    -o requirements.lock pyproject.toml build.in
	@cd python && ../$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-header -c requirements.lock -o requirements-worker.lock pyproject.toml build.in
	@cd python && ../$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-header --extra bench -c requirements.lock -o benchmarks/requirements.lock pyproject.toml

clean: ## Remove the virtual environment and caches (data of the local stack stays)
	rm -rf $(VENV) python/.pytest_cache python/.mypy_cache python/.ruff_cache python/.hypothesis

# Made anew when the lock changes. pip checks every file against its hash.
$(VENV)/ready: python/requirements.lock python/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "Python 3.11 or newer is needed; name it: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@echo "Setting up $(VENV): one to five minutes, once (0.8 GB)" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r python/requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e python
	@touch $@

.PHONY: help demo demo-w3c test test-fast lint format schemas bench lock clean
