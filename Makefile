# Glassformer. Each target installs what it needs; a second run installs nothing.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
  PYTHON := python
  BIN := Scripts
  PATH_SEPARATOR := ;
else
  PATH_SEPARATOR := :
  BIN := bin
endif
SITE := .venv-site/$(BIN)
VENV := .venv
FULL := $(VENV)/$(BIN)

NOTEBOOKS := $(sort $(wildcard chapters/*.ipynb))
PORT ?= 8000

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help: ## List all commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-20s %s\n", $$1, $$2}'

# ---- Reading ----

.PHONY: book
book: .venv-site/installed ## Build the website into _build/html (needs no torch)
	rm -rf _build/html _build/.doctrees
	$(SITE)/jupyter-book build . --warningiserror --nitpick --keep-going --quiet
	@echo 'The book is built. Open it: _build/html/index.html (or: make serve)'

# Each edition is a website of its own. It is moved into place only when it is complete.
.PHONY: student
student: .venv-site/installed ## Build the student edition, without solutions, into _build/student/html (REPOSITORY=...)
	$(BUILD_EDITION)

.PHONY: teacher
teacher: .venv-site/installed ## Build the instructor edition, with solutions shown, into _build/teacher/html
	$(BUILD_EDITION)

define BUILD_EDITION
	rm -rf _build/$@
	GLASSFORMER_EDITION=$@ GLASSFORMER_COURSE_REPOSITORY=$(REPOSITORY) $(SITE)/jupyter-book build . \
	  --path-output _build/$@ --warningiserror --nitpick --keep-going --quiet >/dev/null # its message names a temporary folder
	mv _build/$@/_build/html _build/$@/html
	rm -rf _build/$@/_build
	@echo 'The edition is built. Open it: _build/$@/html/index.html'
endef

.PHONY: serve
serve: book ## Build the website and serve it on http://localhost:8000 (PORT=...)
	$(SITE)/python -m http.server $(PORT) --bind localhost --directory _build/html

.PHONY: pdf
pdf: book $(VENV)/installed ## Export the book to _build/glassformer.pdf (needs Chromium)
	$(FULL)/python -m bookkit.print.pdf _build/html _build/glassformer.pdf

.PHONY: lab
lab: $(VENV)/installed ## Open the chapters in JupyterLab
	$(FULL)/jupyter lab --notebook-dir chapters

# ---- Teaching ----

# Keep a course that you teach elsewhere: make clean removes _build.
COURSE ?= _build/assignments

.PHONY: assignments
assignments: $(VENV)/installed ## Build an nbgrader course from the exercises (COURSE=folder SEED=secret)
	$(FULL)/python -m bookkit.course.build "$(COURSE)" $(if $(SEED),--seed "$(SEED)")

.PHONY: grade
grade: $(VENV)/installed ## Grade the submissions into grades.csv (COURSE=folder)
	cd "$(COURSE)" && "$(abspath $(FULL))/python" -m grader

.PHONY: feedback
feedback: $(VENV)/installed ## Write feedback for each submission (COURSE=folder CHAPTER=masks)
	cd "$(COURSE)" && "$(abspath $(FULL))/nbgrader" generate_feedback $(CHAPTER)

.PHONY: slides
slides: .venv-site/installed ## Build a slide deck for each chapter in _build/slides (needs no torch)
	$(SITE)/python -m bookkit.slides.build _build/slides

.PHONY: slides-pdf
slides-pdf: slides $(VENV)/installed ## Export the slides as PDF, one slide per page (needs Chromium)
	$(FULL)/python -m bookkit.print.slides _build/slides

.PHONY: quizzes
quizzes: $(VENV)/installed ## Export the quizzes for learning platforms to _build/quizzes (QTI 2.1 and Moodle XML)
	$(FULL)/python -m bookkit.quizzes.export _build/quizzes

# ---- Testing ----

.PHONY: test
test: $(VENV)/installed .venv-site/installed ## Run everything that must pass before a change lands
	$(MAKE) --jobs 2 lint types imports book student teacher # each of these uses one core
	$(MAKE) unit notebooks site-tests
	@echo 'All tests passed.'

.PHONY: lint
lint: $(VENV)/installed ## Check style and format
	$(FULL)/ruff check
	$(FULL)/ruff format --check

.PHONY: types
types: $(VENV)/installed ## Check types
	$(FULL)/mypy

.PHONY: imports
imports: $(VENV)/installed ## Check that packages import only from the layers below them
	$(FULL)/lint-imports

.PHONY: unit
unit: $(VENV)/installed ## Run the unit tests, with array shapes checked
	OMP_NUM_THREADS=1 $(FULL)/pytest $(TWO_WORKERS) $(SELECTED) $(filter-out $(OMITTED), $(SLOW)) \
	  $(filter-out $(SLOW) tests/site $(NO_TESTS) $(OMITTED), $(wildcard tests/*))
# One worker runs a whole file, so that its fixtures are set up once. The longest files start first.
TWO_WORKERS = -n 2 --dist loadfile --no-loadscope-reorder
SLOW = $(addprefix tests/, teach museum training exercises)
NO_TESTS = tests/helpers %/conftest.py %/__pycache__

# A Python is on PATH or under pyenv. The museum and the rehearsal device do not depend on the Python.
PYTHONS := $(shell sed -n 's/.*"Programming Language :: Python :: \(.*\)".*/\1/p' pyproject.toml)
.PHONY: pythons $(addprefix unit-on-, $(PYTHONS))
pythons: $(addprefix unit-on-, $(PYTHONS)) ## Run the unit tests on the other supported Pythons that are installed
$(addprefix unit-on-, $(PYTHONS)): unit-on-%:
	@case "$$($(PYTHON) --version)" in "Python $*."*) echo 'Python $*: make unit'; exit;; esac; \
	for python in python$* "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$*.*/bin/python; do \
	  if "$$python" -c '' 2>/dev/null; then \
	    exec $(MAKE) unit PYTHON="$$python" VENV=.venv-$* OMITTED='tests/museum' SELECTED="-k 'not rehearsal'"; fi; \
	done; echo 'Python $*: skipped, not installed'

# Old and new packages warn about each other, so a warning is no error here.
.PHONY: lowest
lowest: .venv-lowest/installed ## Run the package's unit tests on the lowest versions that pyproject.toml allows
	OMP_NUM_THREADS=1 .venv-lowest/$(BIN)/pytest $(TWO_WORKERS) -o filterwarnings=default -k 'not rehearsal' tests \
	  $(addprefix --ignore=tests/, book museum quizzes site teach test_benchmark_page.py)

# Each output must equal the stored one. `pytest --nbval chapters` does the same in one process.
.PHONY: notebooks
notebooks: $(VENV)/installed ## Run every notebook and compare its outputs with the stored ones
	OMP_NUM_THREADS=1 $(NBVAL)

.PHONY: notebooks-elsewhere
notebooks-elsewhere: $(VENV)/installed ## Run the notebooks with two threads and basic CPU instructions, as on another processor
	OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive ATEN_CPU_CAPABILITY=default $(NBVAL)

# PyTorch finds the device through its entry point and refuses what a GPU refuses. Its outputs differ from the stored ones.
.PHONY: rehearsal
rehearsal: $(VENV)/installed ## Run the chapters on a simulated accelerator, to catch CPU/GPU mix-ups
	GLASSFORMER_DEVICE=rehearsal PYTHONPATH='$(CURDIR)/tests/helpers$(PATH_SEPARATOR)$(CURDIR)/tests/helpers/autoload' \
	  OMP_NUM_THREADS=1 $(NBVAL:--nbval=--nbval-lax)
# Three workers keep two cores busy, since each waits for its kernel. The last chapters take longest and start first.
NBVAL = $(FULL)/pytest --nbval -n 3 --dist loadfile -q $(LAST_FIRST)
LAST_FIRST = $(shell printf '%s\n' $(NOTEBOOKS) | sort -r)

.PHONY: site-tests
site-tests: $(VENV)/installed ## Test every page of the built website in Chromium
	OMP_NUM_THREADS=1 $(FULL)/pytest $(TWO_WORKERS) $(SLOW_PAGES) $(filter-out $(SLOW_PAGES) $(NO_TESTS), $(wildcard tests/site/*))
SLOW_PAGES = $(addprefix tests/site/, test_pages.py test_figures.py engine)

# ---- Measuring ----

.PHONY: bench
bench: .venv-bench/installed ## Run the training and decoding benchmarks and update benchmarks/README.md
	OMP_NUM_THREADS=1 .venv-bench/$(BIN)/python benchmarks/training_step.py
	OMP_NUM_THREADS=1 .venv-bench/$(BIN)/python benchmarks/decoding_speed.py
	.venv-bench/$(BIN)/python benchmarks/table.py

# ---- Writing ----

.PHONY: execute
execute: $(VENV)/installed ## Run the notebooks (NOTEBOOKS=...) and store their outputs
	$(CHAPTER_SETTINGS) $(NBCONVERT) --execute --ExecutePreprocessor.record_timing=False $(NOTEBOOKS)
	$(NBCONVERT) --CoalesceStreamsPreprocessor.enabled=True --ClearMetadataPreprocessor.enabled=True \
	  --ClearMetadataPreprocessor.clear_cell_metadata=False \
	  --ClearMetadataPreprocessor.preserve_nb_metadata_mask=kernelspec $(NOTEBOOKS)
# The same settings as in chapters/conftest.py.
CHAPTER_SETTINGS = GLASSFORMER_DEVICE=$${GLASSFORMER_DEVICE-cpu} GLASSFORMER_SCRIPTS=page PYDEVD_DISABLE_FILE_VALIDATION=1
NBCONVERT = $(FULL)/jupyter nbconvert --log-level ERROR --to notebook --inplace

.PHONY: previews
previews: book $(VENV)/installed ## Redraw the preview images of the website (needs Chromium)
	$(FULL)/python -m bookkit.print.previews _build/html _static/previews

.PHONY: format
format: $(VENV)/installed ## Format code and notebooks
	$(FULL)/ruff check --fix
	$(FULL)/ruff format

.PHONY: lock
lock: ## Update the pinned versions from the dependency groups of pyproject.toml (needs uv)
	uv pip compile --quiet --no-header --no-annotate --upgrade --group site -o requirements-site.txt
	uv pip compile --quiet --no-header --no-annotate --upgrade --group test -o requirements.txt

.PHONY: address
address: ## Change the repository's address everywhere (REPOSITORY=https://github.com/you/yours WEBSITE=...)
	$(PYTHON) tools/bookkit/address.py "$(REPOSITORY)" $(WEBSITE)

.PHONY: clean
clean: ## Remove all generated files and environments
	rm -rf _build .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# ---- Environments: .venv-site for the website (no torch), .venv for everything; remade when their pins change ----

.venv-site/installed: requirements-site.txt pyproject.toml
$(VENV)/installed: requirements.txt pyproject.toml

# TORCH_BACKEND=cpu (or cu130, ...) lets uv choose torch's build; without it, pip installs the default build.
.venv-site/installed $(VENV)/installed:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Glassformer needs Python 3.11 or newer, got " + sys.version.split()[0] + ": make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(@D)
ifdef TORCH_BACKEND
	$(@D)/$(BIN)/python -m pip install --quiet uv
	VIRTUAL_ENV=$(@D) $(@D)/$(BIN)/uv pip install --quiet --torch-backend=$(TORCH_BACKEND) -r $<
else
	$(@D)/$(BIN)/python -m pip install --quiet --no-compile -r $<
endif
	$(@D)/$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

.venv-lowest/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/$(BIN)/python -m pip install --quiet uv
	VIRTUAL_ENV=$(@D) $(@D)/$(BIN)/uv pip install --quiet --resolution lowest-direct --editable '.[widget]'
	VIRTUAL_ENV=$(@D) $(@D)/$(BIN)/uv pip install --quiet --group unit # keeps those versions
	@touch $@

.venv-bench/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(@D)/$(BIN)/python -m pip install --quiet --group bench --editable .
	@touch $@
