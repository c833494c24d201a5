PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := -m pip install --quiet --disable-pip-version-check --constraint
PIP := $(BIN)/python $(INSTALL) constraints.txt
FRAMEWORKS := .venv-frameworks
CORE := $(addprefix tests/test_,codes.py doctor.py logs.py study.py tables.py web.py without_networks.py words.py)
ADAPTERS := $(addprefix tests/test_,gymnasium.py learned_policies.py log_adapters.py onnx_policies.py policy_adapters.py)

.PHONY: demo test types tests test-slow test-core test-frameworks bench bench-check docs reproduction format clean

demo: $(VENV)/.installed
	$(BIN)/repbm demo --out demo

# Types are checked while the tests run: neither keeps two cores busy to the end.
test: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory --jobs 2 types tests

# Checked again when a source, or what they are checked against, has changed.
SOURCES := $(wildcard $(shell git ls-files --cached --others --exclude-standard 'src/*.py' 'tests/*.py' 'bench/*.py' 'docs/*.py'))
types: .cache/types

.cache/types: $(SOURCES) pyproject.toml $(VENV)/.installed-dev
	$(BIN)/pyright
	mkdir -p .cache && touch $@

# Many tests start the program: what Python compiles is kept, also where the environment says otherwise. Memory of large
# arrays is kept for the next ones, too, rather than given back and asked for again: a twelfth of the time.
tests: export MALLOC_MMAP_THRESHOLD_ := 1073741824
tests: export MALLOC_TRIM_THRESHOLD_ := 1073741824
tests:
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 --dist worksteal

test-slow: $(VENV)/.installed-dev
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -m slow -n 2 --dist worksteal --part $(or $(PART),1/1)

# The core alone, in another Python: make test-core PYTHON=python3.13. Tests of networks are left out, since JAX is.
test-core: .venv-core/.installed
	.venv-core/bin/pytest -n 2 --dist worksteal $(CORE)

test-frameworks: $(FRAMEWORKS)/.installed
	$(FRAMEWORKS)/bin/pytest --no-skip $(ADAPTERS)

# All pages, recorded in bench/recorded.json and docs/benchmarks.md; make bench PAGES='million start' for some.
bench: $(VENV)/.installed-dev
	$(BIN)/python -m bench --record $(PAGES)

bench-check: $(VENV)/.installed-dev
	$(BIN)/python -m bench --check $(PAGES)

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html

reproduction: $(VENV)/.installed
	$(BIN)/repbm reproduction results --notes results/notes.toml --out docs/reproduction.md

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(FRAMEWORKS) .venv-core demo docs/_build

$(VENV)/bin/python $(FRAMEWORKS)/bin/python .venv-core/bin/python: %/bin/python:
	$(PYTHON) -m venv $*

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[hiv]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	touch $@ $(VENV)/.installed

.venv-core/.installed: .venv-core/bin/python pyproject.toml constraints.txt
	.venv-core/bin/python $(INSTALL) constraints.txt --editable '.[excel,pandas,web]' beartype hypothesis jsonschema pytest pytest-xdist pyyaml
	touch $@

# d3rlpy takes only an old gymnasium: of a package that both files name, the first line counts. torch goes first, alone,
# so that nothing else chooses its build.
$(FRAMEWORKS)/.installed: $(FRAMEWORKS)/bin/python pyproject.toml constraints.txt constraints-frameworks.txt
	awk -F== '!seen[$$1]++' constraints-frameworks.txt constraints.txt > $(FRAMEWORKS)/constraints.txt
	$(FRAMEWORKS)/bin/python $(INSTALL) $(FRAMEWORKS)/constraints.txt torch
	$(FRAMEWORKS)/bin/python $(INSTALL) $(FRAMEWORKS)/constraints.txt \
		--editable '.[d3rlpy,minari,onnx,pandas,sb3,skops,torch]' beartype onnx pytest
	touch $@
