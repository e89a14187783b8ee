# Each target sets up what it needs; a machine needs Python >= 3.11 with venv, git and make.
.DEFAULT_GOAL := help
.PHONY: help setup demo test chaos check bench lock

# Another environment's settings stay out of ours.
unexport VIRTUAL_ENV CONDA_PREFIX PYTHONHOME PYTHONPATH

UV_COMPILE = .venv/bin/uv --quiet pip compile --python .venv/bin/python --universal \
	--python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' Makefile

setup: ## make .venv as the lock says; afterwards .venv/bin/remit is the command
	@.ci/setup

demo: setup ## run the main job against the example apps, in the terminal
	@.ci/example
	@.venv/bin/remit demo

# The tests start some hundred processes: what these import is compiled once, apart from the tree.
test: export PYTHONDONTWRITEBYTECODE =
test: export PYTHONPYCACHEPREFIX = $(CURDIR)/.venv/compiled
test: setup ## run the tests (of the npm packages too, where Node is; not with ARGS)
	@$(if $(ARGS),.venv/bin/python -m pytest -q -n 2 $(ARGS),.ci/test)

chaos: setup ## 50,000 calls and 400 sessions while servers die; nothing is sent twice
	@.venv/bin/python -m tests.chaos --calls 50000 --kills 40 $(ARGS)
	@.venv/bin/python -m tests.chaos.talks --store sqlite
	@.venv/bin/python -m tests.chaos.talks --store postgresql

check: setup ## formatting, lint, imports, dependencies, types, the npm package
	@.ci/check

bench: setup ## print what things cost, beside a bare proxy and FastMCP; asserts nothing
	@.venv/bin/python bench/run.py

lock: ## lock anew after a change of pyproject.toml (UPGRADE=1: take newer releases)
	@.ci/setup uv
	@$(UV_COMPILE) --output-file requirements.txt pyproject.toml >/dev/null
	@$(UV_COMPILE) --output-file requirements-dev.txt --group dev --constraint requirements.txt pyproject.toml >/dev/null
	@$(UV_COMPILE) --output-file requirements-bench.txt --group pyproject.toml:bench --constraint requirements.txt >/dev/null
