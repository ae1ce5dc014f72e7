# `make run` serves, `make test` tests; both install what they need into .venv first, once.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help install run test check lint types imports house fast slow test-docker lock clean
MAKEFLAGS += --no-print-directory

VENV := .venv
PY := $(VENV)/bin/python
# Nothing is installed that the lock does not name with its hash. The machine's own pip configuration decides from where.
INSTALL := PIP_USER=0 $(PY) -m pip install --disable-pip-version-check --no-input --no-deps

# The stamps say what .venv holds: that lock, in this place. Any other lock, or a moved checkout, is another stamp.
RUN_STAMP := $(VENV)/.run-$(shell { pwd; cat requirements.txt; } | cksum | tr -s ' \t' '-')
DEV_STAMP := $(VENV)/.dev-$(shell { pwd; cat requirements.txt requirements-dev.txt; } | cksum | tr -s ' \t' '-')
# After an upgrade of the system's Python its virtual environments no longer start.
ifneq ($(shell $(PY) -c 'print("starts")' 2>/dev/null),starts)
$(shell rm -f $(VENV)/.run-* $(VENV)/.dev-*)
endif

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || grep '##' Makefile

install: $(RUN_STAMP) ## install into .venv, with the loccit command in .venv/bin

run: $(RUN_STAMP) ## serve on http://127.0.0.1:8000 with the sample papers (ARGS="--port 9000" for other flags)
	@exec $(PY) -m service serve --with-sample $(ARGS)

test: ## everything: the checks, the fast suite with its coverage, the slow suite, containers if an engine runs
	@$(MAKE) check
	@$(MAKE) fast
	@$(PY) -m pytest -m docker
	@$(MAKE) slow

check: lint types imports house ## style, types, import contracts, house measures

lint: $(DEV_STAMP) ## ruff: rules and format
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(DEV_STAMP) ## mypy, strict
	$(PY) -m mypy

imports: $(DEV_STAMP) ## which module may import which
	$(VENV)/bin/lint-imports --no-logo

house: $(DEV_STAMP) ## sizes, words and promises that no other tool checks
	$(PY) -m pytest -q tests/test_house.py

fast: $(DEV_STAMP) ## the fast tests, with branch coverage
	$(PY) -m pytest -m "not (slow or docker or model or browser)" --cov --cov-report=term-missing

slow: $(DEV_STAMP) ## the slow tests: real processes, models and browsers where there are any
	$(PY) -m pytest -m "(slow or model or browser) and not docker"

test-docker: $(DEV_STAMP) ## the tests of image and compose files; as root on Debian or Ubuntu, with an engine installed for them
	@tests/docker/engine.sh
	$(PY) -m pytest -m docker

lock: $(DEV_STAMP) ## write requirements.txt and requirements-dev.txt anew (ARGS=--upgrade for newer versions)
	$(VENV)/bin/uv pip compile -q $(ARGS) --python $(PY) --group tokenizer --group build pyproject.toml -o requirements.txt
	$(VENV)/bin/uv pip compile -q $(ARGS) --python $(PY) --group model --group dev -c requirements.txt -o requirements-dev.txt

clean: ## remove what the tools made; papers and settings stay
	rm -rf $(VENV) build dist .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Without its stamp, whatever .venv holds may be half of an install, which pip would take for a whole one: begin anew.
$(RUN_STAMP): requirements.txt
	@set -e; \
	for python in $(or $(PYTHON),python3 python3.13 python3.12 python3.11); do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; python=; \
	done; \
	if [ -z "$$python" ]; then \
	    echo "loccit needs Python 3.11 or newer, and found none: install one, or name one with PYTHON=/path/to/python3." >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import venv, ensurepip' 2>/dev/null; then \
	    echo "$$python has no venv module: on Debian or Ubuntu, apt-get install python3-venv." >&2; exit 1; \
	fi; \
	rm -rf $(VENV); \
	echo "Installing into $(VENV), once:"; \
	"$$python" -m venv $(VENV)
	@$(INSTALL) --require-hashes --only-binary :all: -r requirements.txt
	@$(INSTALL) -q --no-build-isolation --no-index -e .
	@touch $@

# While this runs the other stamp is away, so that an interrupted install here begins anew too.
$(DEV_STAMP): $(RUN_STAMP) requirements-dev.txt
	@mv $(RUN_STAMP) $(VENV)/.paused
	@$(INSTALL) --require-hashes --only-binary :all: -r requirements-dev.txt
	@mv $(VENV)/.paused $(RUN_STAMP)
	@touch $@
