# Two commands do everything: `make demo` and `make test`. Both set themselves up on a fresh machine.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready

.PHONY: setup demo test verify pictures format clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup  ## run the five-bar benchmark and draw its figures
	$(BIN)/varimech benchmark five-bar --out out/five-bar

test: setup  ## formatter, linter, type checker and all tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

verify: setup  ## every acceptance figure with its bound, in one table (slower than the tests)
	$(BIN)/python tools/verify.py

pictures: demo  ## the pictures of the README, made anew
	cp out/five-bar/mechanism.png docs/images/five_bar_mechanism.png
	cp out/five-bar/figure6_gradients.png docs/images/five_bar_gradients.png

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) out build
