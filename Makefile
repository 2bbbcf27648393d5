# `make up` and `make test` are the two that matter; `make help` lists the rest.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

STACK ?= aws-dev
PYTHON ?= python3
STACKS := $(patsubst stacks/config/Pulumi.%.yaml,%,$(wildcard stacks/config/Pulumi.*.yaml))
# The one that STACK names letter by letter. Nothing else reaches the shell: a STACK with `;` in it is no command.
same = $(and $(findstring <$(1)>,<$(2)>),$(findstring <$(2)>,<$(1)>))
FOUND := $(strip $(foreach name,$(STACKS),$(if $(call same,$(STACK),$(name)),$(name))))
STACK_FILE := stacks/config/Pulumi.$(FOUND).yaml
# The stack's own cloud decides which SDK is installed; the other two are not.
CLOUD := $(if $(FOUND),$(shell sed -nE 's/.*provider: *"?(aws|azure|gcp)"?.*/\1/p' $(STACK_FILE) | head -n 1))
VENV := .venvs/$(CLOUD)
INSTALLED := $(if $(CLOUD),$(VENV)/.installed,no-such-stack)
DEV := .venvs/dev

.PHONY: help
help: ## This list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

.PHONY: up
up: $(INSTALLED) ## Bring STACK (aws-dev) up in the sandbox, with its policy packs
	@$(VENV)/bin/gpuplatform sandbox up $(STACK) --policy-pack policies/gpu --policy-pack policies/security

.PHONY: down
down: $(INSTALLED) ## Destroy STACK in the sandbox, but for what is protected
	@$(VENV)/bin/gpuplatform sandbox destroy $(STACK)

.PHONY: plan
plan: $(INSTALLED) ## What STACK would build and cost, offline
	@$(VENV)/bin/gpuplatform plan $(STACK)

export STACK
.PHONY: no-such-stack
no-such-stack:
	@echo "there is no stack '$$STACK': the stacks are $(STACKS)" >&2; exit 2

.PHONY: test
test: $(DEV)/.installed ## Everything that needs no cloud
	@PATH="$(CURDIR)/$(DEV)/bin:$$PATH" scripts/test

.PHONY: fast
fast: $(DEV)/.installed ## The tiers that need no engine, and the linters
	@PATH="$(CURDIR)/$(DEV)/bin:$$PATH" scripts/test --fast

.PHONY: format
format: $(DEV)/.installed ## Let ruff fix and format
	@$(DEV)/bin/ruff check --fix . && $(DEV)/bin/ruff format .

.PHONY: golden
golden: $(DEV)/.installed ## Write the golden files anew; review the diff
	@$(DEV)/bin/pytest -q -n auto tests/golden --snapshot-update

.PHONY: bench
bench: $(DEV)/.installed ## Ratios of speed, as a table
	@PATH="$(CURDIR)/$(DEV)/bin:$$PATH" $(DEV)/bin/python benchmarks/run.py

.PHONY: schema
schema: $(DEV)/.installed ## Write the JSON Schemas below docs/
	@$(DEV)/bin/gpuplatform schema platform > docs/platform.schema.json
	@$(DEV)/bin/gpuplatform schema plan > docs/plan.schema.json

LOCK = uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --group build
.PHONY: lock
lock: ## Resolve the locks anew (needs uv)
	$(LOCK) --quiet --group dev --all-extras -o requirements/dev.txt
	for cloud in aws azure gcp; do \
	  $(LOCK) --quiet --extra $$cloud --extra policy -c requirements/dev.txt -o requirements/$$cloud.txt; done

.PHONY: clean
clean: ## Remove environments, caches and the sandbox's data
	rm -rf .venvs .gpuplatform .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A failed or killed install leaves no .installed, so the next run starts it over.
.venvs/%/.installed: requirements/%.txt pyproject.toml
	@rm -rf .venvs/$*
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "gpuplatform needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 2; }
	@echo "installing the packages of requirements/$*.txt into .venvs/$* (once)"
	@$(PYTHON) -m venv .venvs/$*
	@.venvs/$*/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$*.txt
	@.venvs/$*/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
