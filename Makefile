# `make help` lists the targets. Everything is installed into .venv and built into ros_ws/install; nothing else changes.

VENV := .venv
STAMPS := $(VENV)/stamps
PIP := $(VENV)/bin/python -m pip install -qq --disable-pip-version-check --no-deps
RUN := $(VENV)/bin/homie-env
# Makes .venv with another interpreter than the best one found: make distclean && make PYTHON=python3.11
PYTHON ?=
PYTEST_WORKERS ?= 2

# The prefix of a sourced ROS 2 Jazzy; empty: ROS comes from wheels.
PREFIXES := $(filter-out $(CURDIR)/%,$(subst :, ,$(AMENT_PREFIX_PATH)))
ROS := $(if $(filter jazzy,$(ROS_DISTRO)),$(firstword $(patsubst %/share/rclpy/package.xml,%,\
         $(wildcard $(addsuffix /share/rclpy/package.xml,$(PREFIXES))))))
ROS_OPTION := $(if $(ROS),--ros $(ROS))

# Modules of Python are linked, not copied, so only new or changed files of other kinds need a build.
PACKAGES := $(wildcard msgs eval sim_bridges launch ros_ws/src ros_ws/stand_ins)
FILES := $(shell find $(PACKAGES) -type f \( ! -name '*.py' -o -name setup.py -o -name '*.launch.py' \) \
           ! -path '*/__pycache__/*' ! -path '*.egg-info/*' | sort)
BUILD_RULES := ros_ws/build_workspace.py ros_ws/colcon_defaults.yaml $(wildcard ros_ws/cmake/*)

.DEFAULT_GOAL := build
.PHONY: build demo demo-llm test bench lint format clean distclean help dev always
.DELETE_ON_ERROR:

build: $(STAMPS)/workspace ## install what a run needs and build the workspace (the default)

demo: build ## run one household task from instruction to score
	@$(VENV)/bin/homie demo

demo-llm: build extra-gguf ## run a task planned by a small language model on the CPU: no network, no key
	@$(VENV)/bin/homie demo --planner ros_ws/src/homie_planner/examples/smollm2.yaml --skills oracle --max-steps 8

test: build lint ## check the style and types, then run all tests
	@$(RUN) pytest --numprocesses=$(PYTEST_WORKERS) --dist=loadfile

bench: build ## measure: physics and rendering against the whole, latencies
	@PYTHONPATH=tests $(RUN) python tests/bench/run.py

lint: dev ## check style (ruff) and types (mypy)
	@$(VENV)/bin/ruff check --quiet
	@$(VENV)/bin/ruff format --check --quiet
	@$(VENV)/bin/mypy

format: dev ## bring every file into the style that lint checks
	@$(VENV)/bin/ruff check --quiet --fix
	@$(VENV)/bin/ruff format --quiet

extra-%: build ## install what a planner, a run or an export needs beyond the rest: extra-openai, extra-ray, …
	@test -f requirements/extra/$*.txt || { \
	  echo "there is no extra $*; allowed: $(basename $(notdir $(wildcard requirements/extra/*.txt)))" >&2; exit 2; }
	@echo "Installing the extra $*"
	@$(PIP) -r requirements/extra/$*.txt

# A torch for GPUs asks for their libraries, others on each platform: pip adds them, and nothing else is left to add.
extra-transformers: PIP := $(subst --no-deps,,$(PIP)) -c requirements/run.txt

clean: ## remove what was built, keep what was installed
	@rm -rf ros_ws/build ros_ws/install ros_ws/log $(STAMPS)/workspace .mypy_cache .pytest_cache .ruff_cache

distclean: clean ## remove everything that make made, except runs/
	@rm -rf $(VENV)

help: ## list the targets
	@sed -n 's/^\([a-z%-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

dev: $(STAMPS)/dev

# Where and on what the environment was made. A moved folder or another ROS makes a new environment.
$(STAMPS)/origin: always
	@echo '$(CURDIR) $(or $(ROS),wheels)' | cmp --silent - $@ || { \
	  command -v python3 > /dev/null || { echo "missing: Python 3; install it with: apt-get install python3 python3-venv python3-dev" >&2; exit 2; }; \
	  python=$$(python3 ros_ws/check_system.py $(ROS_OPTION) $(if $(PYTHON),--python $(PYTHON))) || exit 2; \
	  rm -rf $(VENV) ros_ws/build ros_ws/install; \
	  echo "Making $(VENV) with $$python, ROS from $(or $(ROS),wheels)"; \
	  "$$python" -m venv $(VENV) && mkdir $(STAMPS) && echo '$(CURDIR) $(or $(ROS),wheels)' > $@; }

REQUIREMENTS := requirements/run.txt requirements/build.txt $(if $(ROS),,requirements/ros.txt)
$(STAMPS)/run: $(REQUIREMENTS) $(STAMPS)/origin
	@echo "Installing what a run needs"
	@$(PIP) $(addprefix -r ,$(REQUIREMENTS))
	@touch $@

# The small extras are tested on every machine, the large ones where they are installed.
DEV_REQUIREMENTS := requirements/dev.txt requirements/extra/openai.txt requirements/extra/gguf.txt
$(STAMPS)/dev: $(DEV_REQUIREMENTS) $(STAMPS)/run
	@echo "Installing what the tests need"
	@$(PIP) $(addprefix -r ,$(DEV_REQUIREMENTS))
	@touch $@

# A file that went away is a change too, and no file is newer for it: so the list of files is one.
$(STAMPS)/files: $(STAMPS)/origin always
	@echo '$(FILES)' | cmp --silent - $@ || echo '$(FILES)' > $@

$(STAMPS)/workspace: $(FILES) $(BUILD_RULES) $(STAMPS)/files $(STAMPS)/run
	@$(VENV)/bin/python ros_ws/build_workspace.py $(ROS_OPTION)
	@touch $@
