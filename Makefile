# Two commands do everything: `make demo` and `make test`. Both set themselves up on a fresh machine.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
FRAMEWORKS := $(VENV)/.frameworks
PEERS  := .venv-peers
BEGAN  := $(shell date +%s)
SITE   := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs
EXAMPLES := bricard_loop governor_regulation slider_crank_reaction five_bar_soft andrews_lengths tolerances five_bar_reliability cheapest_tolerances squeezer_grades five_bar_still five_bar_path andrews_peak_reaction slider_crank_section pendulum_fit clearance_slider_crank stick_slip woodpecker one_way_parts geneva_drive planetary_gear cardan_shaft robot_arm_pid path_synthesis valve_train bicycle double_wishbone suspension_camber learned_controller

# modules are compiled once, not in each of the processes that tests start
test verify: export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup demo examples test verify harden docs docs-serve compare pictures format clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docs,cluster,meshes,studio,uq,urdf]'
	@touch $@

$(FRAMEWORKS): $(STAMP)  # JAX and PyTorch are large, and the demonstration does not need them
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[jax,nuts,torch]'
	@touch $@

demo: setup  ## run the five-bar benchmark, draw its figures and write its report
	$(BIN)/varimech benchmark five-bar --out out/five-bar
	@echo "from 'make' to the report: $$(( $$(date +%s) - $(BEGAN) )) s; open out/five-bar/report.html"

examples: $(FRAMEWORKS)  ## the gallery: twenty-eight examples with their pictures, each in out/
	for name in $(EXAMPLES); do echo "== $$name"; $(BIN)/python examples/$$name.py || exit 1; done

test: $(FRAMEWORKS)  ## formatter, linter, type checker, documentation and all tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(SITE) build --strict & pages=$$!; $(BIN)/mypy; types=$$?; wait $$pages && exit $$types
	$(BIN)/pytest -n 2 --dist worksteal

docs: setup  ## the documentation as a site
	$(SITE) build --strict
	@echo "open build/site-docs/index.html"

docs-serve: setup  ## the same while it is written, anew with every change
	$(SITE) serve

verify: $(FRAMEWORKS)  ## every acceptance figure with its bound, in one table, after the tests that take long
	$(BIN)/pytest -n 2 --dist worksteal -m slow -o faulthandler_timeout=3600
	$(BIN)/python tools/verify/verify.py

harden: setup  ## thousands of random mechanisms, files, messages to a studio and builds, each of which agrees, is refused by name, or is a fault; takes hours
	$(BIN)/python tools/harden/harden.py --count 5000 --processes 2
	$(BIN)/python tools/harden/fuzz_files.py --count 100000
	$(BIN)/python tools/harden/fuzz_studio.py --count 100000
	$(BIN)/python tools/harden/soak.py --builds 10000

$(PEERS)/.ready: tools/compare/constraints.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --constraint $< exudyn mujoco casadi numpy scipy matplotlib
	@touch $@

compare: setup $(PEERS)/.ready  ## Varimech beside its peers: tables, pages in docs/ and their pictures
	$(BIN)/python tools/compare/compare.py

pictures: demo  ## the pictures of the README, of the elements and of the tutorial, made anew
	cp out/five-bar/mechanism.png docs/images/five_bar_mechanism.png
	cp out/five-bar/figure6_gradients.png docs/images/five_bar_gradients.png
	$(BIN)/python tools/draw/draw_elements.py
	$(BIN)/python tools/draw/tutorial_pictures.py
	$(BIN)/python tools/draw/studio_pictures.py

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .venv-peers out build
