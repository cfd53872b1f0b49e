# Needs make and Python 3.11 or newer; everything else is installed into .venv.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
DEMO_READY := $(VENV)/.ready-demo
TEST_READY := $(VENV)/.ready-test
PYTEST_FLAGS ?= -n 2 --dist loadfile

export RAY_USAGE_STATS_ENABLED := 0

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench slow clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-6s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  Another interpreter: make PYTHON=python3.12 ..."

demo: $(DEMO_READY)  ## fit on imbalanced tables that scikit-learn ships, beside other forests
	$(PY) examples/demo.py

test: lint  ## lint, types, tests and doctests
	$(PY) -m pytest -q $(PYTEST_FLAGS)

lint: $(TEST_READY)  ## ruff and mypy
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(TEST_READY)  ## speed and scale, beside peers in one run
	$(PY) benchmarks/speed.py

slow: $(TEST_READY)  ## statistical and scale tests
	$(PY) -m pytest -q -m slow tests/slow

clean:  ## remove caches and build products (.venv stays)
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "dsna needs Python 3.11 or newer, and '$(PYTHON)' is not. Name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -f $@; \
	  echo "'$(PYTHON) -m venv' failed. On Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(PY) -m pip install --quiet --upgrade pip

$(DEMO_READY): pyproject.toml | $(PY)
	$(PY) -m pip install --quiet -e '.[bench]'
	@touch $@

$(TEST_READY): pyproject.toml | $(PY)
	$(PY) -m pip install --quiet -e '.[test]'
	@touch $@ $(DEMO_READY)
