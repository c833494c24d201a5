PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow bench docs reproduction format clean

demo: $(VENV)/.installed
	$(BIN)/repbm demo --out demo

test: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright
	$(BIN)/pytest -n 2

test-slow: $(VENV)/.installed-dev
	$(BIN)/pytest -m slow

bench: $(VENV)/.installed-dev
	$(BIN)/python -m bench

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html

reproduction: $(VENV)/.installed
	$(BIN)/repbm reproduction results --notes results/notes.toml --out docs/reproduction.md

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) demo docs/_build

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[hiv]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	touch $@ $(VENV)/.installed
