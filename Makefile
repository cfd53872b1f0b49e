# Needs make, a POSIX shell (on Windows that of Git) and Python 3.11 or newer; everything else is installed into .venv.
# An interpreter of another name gets an environment of its own: make PYTHON=python3.13 uses .venv-python3.13.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := Scripts/python.exe
else
PYTHON ?= python3
BIN := bin/python
endif
VENV := .venv$(addprefix -,$(filter-out python python3,$(notdir $(PYTHON))))
PY := $(VENV)/$(BIN)
OLDEST := .venv-oldest
DEMO_READY := $(VENV)/.ready-demo
TEST_READY := $(VENV)/.ready-test
DOCS_READY := $(VENV)/.ready-docs
RELEASE_READY := $(VENV)/.ready-release
PYTEST_FLAGS ?= -n 2 --dist loadfile
PROJECTS := packages/dsna/pyproject.toml packages/dsna-vision/pyproject.toml studies/pyproject.toml
# All three packages, in place.
EDITABLE := -e 'packages/dsna[test]' -e 'packages/dsna-vision[train]' -e studies
# The workers keep both cores busy: threads of OpenMP and BLAS would only wait for each other.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -q

export RAY_USAGE_STATS_ENABLED := 0
# Ray's workers give way to everything else unless told otherwise: on a busy machine their tests would not end.
export RAY_worker_niceness := 0
# An older wheel rather than a newer source: no compiler is needed.
export PIP_PREFER_BINARY := 1

.DEFAULT_GOAL := help
.PHONY: help demo test oldest lint docs bench slow portable release-check clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  Another interpreter: make PYTHON=python3.12 ..."

demo: $(DEMO_READY)  ## the whole job once, on a table that scikit-learn ships: train, report page, predict, explain
	$(PY) -m dsna demo --out dsna-demo --force

test: lint  ## lint, types, tests and doctests, and the share of lines that they run
	COVERAGE_CORE=$$($(PY) -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
	  $(PYTEST) --cov $(PYTEST_FLAGS)

oldest: $(OLDEST)/.ready  ## the tests on the lowest versions that pyproject.toml allows, with Python 3.11
	$(subst $(PY),$(OLDEST)/$(BIN),$(PYTEST)) $(PYTEST_FLAGS)

lint: $(TEST_READY)  ## ruff, mypy and the schema of the workflow
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m check_jsonschema --builtin-schema vendor.github-workflows .github/workflows/ci.yml

docs: $(DOCS_READY)  ## the site, docs/_build/html: offline, with the examples run; warnings are errors
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	$(PY) tools/site_check.py docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: $(TEST_READY)  ## speed and scale, beside peers in one run
	$(PY) benchmarks/speed.py

slow: $(TEST_READY)  ## statistical and scale tests, and property tests on new random examples
	$(PYTEST) -m slow packages/dsna/tests/slow
	HYPOTHESIS_PROFILE=random $(PYTEST) -m property $(PYTEST_FLAGS)

portable: $(TEST_READY)  ## the numerical tests as other processors would run them
	$(PY) -m tools.portable

release-check: $(RELEASE_READY)  ## source and wheel: built, checked, installed with and without each extra (EXTRAS=app,serve for some)
	$(PY) tools/release_check.py $(if $(EXTRAS),--extras $(EXTRAS))

clean:  ## remove caches and build products (.venv and its kin stay)
	rm -rf build dist docs/_build docs/gallery docs/reference/api docs/reference/commands.md .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
	find . -path './.venv*' -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

%/$(BIN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "dsna needs Python 3.11 or newer, and '$(PYTHON)' is not. Name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $* || { rm -f $@; \
	  echo "'$(PYTHON) -m venv' failed. On Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	$@ -m pip install --quiet --upgrade pip

$(DEMO_READY): packages/dsna/pyproject.toml | $(PY)
	$(PY) -m pip install --quiet -e 'packages/dsna[app]'
	@touch $@

$(TEST_READY): $(PROJECTS) | $(PY)
	$(PY) -m pip install --quiet $(EDITABLE)
	@touch $@ $(DEMO_READY)

$(DOCS_READY): $(PROJECTS) | $(PY)
	$(PY) -m pip install --quiet -e 'packages/dsna[docs]' -e packages/dsna-vision
	@touch $@

$(RELEASE_READY): $(PROJECTS) | $(PY)
	$(PY) -m pip install --quiet -e 'packages/dsna[release]'
	@touch $@

$(OLDEST)/.ready: $(PROJECTS) | $(OLDEST)/$(BIN)
	@$(OLDEST)/$(BIN) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { rm -rf $(OLDEST); \
	  echo "The lowest versions are promised for Python 3.11: make oldest PYTHON=python3.11" >&2; exit 1; }
	$(OLDEST)/$(BIN) -m pip install --quiet uv
	$(OLDEST)/$(BIN) -m uv pip install --quiet --python $(OLDEST)/$(BIN) --upgrade --resolution lowest-direct $(EDITABLE)
	@touch $@
