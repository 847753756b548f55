# Glassformer. Each target sets up what it needs; a repeated run installs nothing.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
  PYTHON := python
  BIN := Scripts
else
  BIN := bin
endif
SITE := .venv-site/$(BIN)
FULL := .venv/$(BIN)

NOTEBOOKS := $(sort $(wildcard chapters/*.ipynb))
PORT ?= 8000

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help: ## List what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-20s %s\n", $$1, $$2}'

# ---- Reading ----

.PHONY: book
book: .venv-site/installed ## Build the website into _build/html (needs no torch)
	rm -rf _build/html _build/.doctrees
	$(SITE)/jupyter-book build . --warningiserror --nitpick --keep-going --quiet
	@echo 'The book is built. Open it: _build/html/index.html (or: make serve)'

# A site of its own for each edition; it stands in its place only when it is whole.
.PHONY: student
student: .venv-site/installed ## Build the website without solutions into _build/student/html (REPOSITORY=...)
	$(BUILD_EDITION)

.PHONY: teacher
teacher: .venv-site/installed ## Build it with open solutions and the teacher's notes into _build/teacher/html
	$(BUILD_EDITION)

define BUILD_EDITION
	rm -rf _build/$@
	GLASSFORMER_EDITION=$@ GLASSFORMER_COURSE_REPOSITORY=$(REPOSITORY) $(SITE)/jupyter-book build . \
	  --path-output _build/$@ --warningiserror --nitpick --keep-going --quiet >/dev/null # it names a passing place
	mv _build/$@/_build/html _build/$@/html
	rm -rf _build/$@/_build
	@echo 'The edition is built. Open it: _build/$@/html/index.html'
endef

.PHONY: serve
serve: book ## Build the website and serve it on http://localhost:8000 (PORT=...)
	$(SITE)/python -m http.server $(PORT) --bind localhost --directory _build/html

.PHONY: pdf
pdf: book .venv/installed ## Print the whole book to _build/glassformer.pdf (needs Chromium)
	$(FULL)/python -m bookkit.print.pdf _build/html _build/glassformer.pdf

.PHONY: lab
lab: .venv/installed ## Open the chapters in JupyterLab
	$(FULL)/jupyter lab --notebook-dir chapters

# ---- Teaching ----

# A course that is taught lives elsewhere: make clean removes _build.
COURSE ?= _build/assignments

.PHONY: assignments
assignments: .venv/installed ## Make a course of the exercises for nbgrader (COURSE=folder SEED=secret)
	$(FULL)/python -m bookkit.course.build "$(COURSE)" $(if $(SEED),--seed "$(SEED)")

.PHONY: grade
grade: .venv/installed ## Grade what was handed in, into grades.csv (COURSE=folder)
	cd "$(COURSE)" && "$(abspath $(FULL))/python" -m grader

.PHONY: feedback
feedback: .venv/installed ## Write a page of feedback for each submission (COURSE=folder CHAPTER=masks)
	cd "$(COURSE)" && "$(abspath $(FULL))/nbgrader" generate_feedback $(CHAPTER)

.PHONY: slides
slides: .venv-site/installed ## Make a deck of slides for each chapter in _build/slides (needs no torch)
	$(SITE)/python -m bookkit.slides.build _build/slides

.PHONY: slides-pdf
slides-pdf: slides .venv/installed ## Print the slides, too, a slide a page (needs Chromium)
	$(FULL)/python -m bookkit.print.slides _build/slides

.PHONY: quizzes
quizzes: .venv/installed ## Write the quizzes for learning platforms into _build/quizzes (QTI 2.1 and Moodle XML)
	$(FULL)/python -m bookkit.quizzes.export _build/quizzes

# ---- Testing ----

.PHONY: test
test: .venv/installed .venv-site/installed ## Run everything: what must pass before a change lands
	$(MAKE) --jobs 2 lint types imports book student teacher # each of these keeps one core busy
	$(MAKE) unit notebooks site-tests
	@echo 'All tests passed.'

.PHONY: lint
lint: .venv/installed ## Check style and format
	$(FULL)/ruff check
	$(FULL)/ruff format --check

.PHONY: types
types: .venv/installed ## Check types
	$(FULL)/mypy

.PHONY: imports
imports: .venv/installed ## Check that floors import downward only
	$(FULL)/lint-imports

.PHONY: unit
unit: .venv/installed ## Test the package and the notebooks' form, with shapes checked
	OMP_NUM_THREADS=1 $(FULL)/pytest $(TWO_WORKERS) $(SLOW) $(filter-out $(SLOW) tests/site $(NO_TESTS), $(wildcard tests/*))
# A file stays with one worker, which sets its fixtures up once; the longest files start first.
TWO_WORKERS = -n 2 --dist loadfile --no-loadscope-reorder
SLOW = $(addprefix tests/, teach museum training exercises)
NO_TESTS = tests/helpers %/conftest.py %/__pycache__

# Strict: each output must equal the stored one. `pytest --nbval chapters` does the same in one process.
.PHONY: notebooks
notebooks: .venv/installed ## Run every notebook as a strict test
	OMP_NUM_THREADS=1 $(NBVAL)

.PHONY: notebooks-elsewhere
notebooks-elsewhere: .venv/installed ## Run them as another processor would: two threads, plain vector instructions
	OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive ATEN_CPU_CAPABILITY=default $(NBVAL)
# Three workers for two cores, since each waits for its kernel; the last chapters take longest and start first.
NBVAL = $(FULL)/pytest -o addopts= -p no:cacheprovider --nbval -n 3 --dist loadfile -q $(LAST_FIRST)
LAST_FIRST = $(shell printf '%s\n' $(NOTEBOOKS) | sort -r)

.PHONY: site-tests
site-tests: .venv/installed ## Open every page of the built website in Chromium
	OMP_NUM_THREADS=1 $(FULL)/pytest $(TWO_WORKERS) $(SLOW_PAGES) $(filter-out $(SLOW_PAGES) $(NO_TESTS), $(wildcard tests/site/*))
SLOW_PAGES = $(addprefix tests/site/, test_pages.py test_figures.py engine)

# ---- Measuring ----

.PHONY: bench
bench: .venv-bench/installed ## Measure speed and memory beside other libraries, and lay out the tables
	OMP_NUM_THREADS=1 .venv-bench/$(BIN)/python benchmarks/training_step.py
	OMP_NUM_THREADS=1 .venv-bench/$(BIN)/python benchmarks/decoding_speed.py
	.venv-bench/$(BIN)/python benchmarks/table.py

# ---- Writing ----

.PHONY: execute
execute: .venv/installed ## Run the notebooks (NOTEBOOKS=...) and store their outputs
	$(CHAPTER_SETTINGS) $(NBCONVERT) --execute --ExecutePreprocessor.record_timing=False $(NOTEBOOKS)
	$(NBCONVERT) --CoalesceStreamsPreprocessor.enabled=True --ClearMetadataPreprocessor.enabled=True \
	  --ClearMetadataPreprocessor.clear_cell_metadata=False \
	  --ClearMetadataPreprocessor.preserve_nb_metadata_mask=kernelspec $(NOTEBOOKS)
# The same settings as in chapters/conftest.py.
CHAPTER_SETTINGS = GLASSFORMER_DEVICE=$${GLASSFORMER_DEVICE-cpu} GLASSFORMER_SCRIPTS=page PYDEVD_DISABLE_FILE_VALIDATION=1
NBCONVERT = $(FULL)/jupyter nbconvert --log-level ERROR --to notebook --inplace

.PHONY: previews
previews: book .venv/installed ## Draw again the pictures that go with the pages' addresses (needs Chromium)
	$(FULL)/python -m bookkit.print.previews _build/html _static/previews

.PHONY: format
format: .venv/installed ## Put code and notebooks into form
	$(FULL)/ruff check --fix
	$(FULL)/ruff format

.PHONY: lock
lock: ## Pin again what the dependency groups of pyproject.toml admit (needs uv)
	uv pip compile --quiet --no-header --no-annotate --upgrade --group site -o requirements-site.txt
	uv pip compile --quiet --no-header --no-annotate --upgrade --group test -o requirements.txt

.PHONY: address
address: ## Publish a fork under its own address (REPOSITORY=https://github.com/you/yours, WEBSITE=... if not GitHub Pages)
	$(PYTHON) tools/bookkit/address.py "$(REPOSITORY)" $(WEBSITE)

.PHONY: clean
clean: ## Remove everything that was made
	rm -rf _build .venv .venv-site .venv-bench .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# ---- Environments: one for reading (no torch), one for everything; remade parts only when their pins change ----

.venv-site/installed: requirements-site.txt pyproject.toml
.venv/installed: requirements.txt pyproject.toml

# TORCH_BACKEND=cpu (or cu130, ...) lets uv choose torch's build; otherwise pip takes the registry's.
.venv-site/installed .venv/installed:
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

.venv-bench/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(@D)/$(BIN)/python -m pip install --quiet --group bench --editable .
	@touch $@
