# `make` explains itself: the text after ## beside each target.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: help serve accept gc export-job test test-long check deployed durations simulate mutants fuzz torture bench lock docs page launcher wheel browser layer synth dist format install jars

VENV := .venv
PYTHON := $(VENV)/bin/python
# CI may keep the stores' files somewhere else between runs.
export GRAVELER_JARS ?= $(CURDIR)/.cache/jars

# What runs the system, and what develops it as well; both in one environment.
RUNTIME_INSTALLED := $(VENV)/.requirements.txt
PYTHON_INSTALLED := $(VENV)/.requirements-dev.txt
# The command line, as a user has it; it runs this checkout's code.
COMMAND_INSTALLED := $(VENV)/bin/graveler
# npm's own note of what it installed for the web page.
PAGE_INSTALLED := webui/node_modules/.package-lock.json
CDK_INSTALLED := node_modules/.package-lock.json
EMULATOR_INSTALLED := $(VENV)/emulator/.requirements-emulator.txt

help: ## Show this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve gc export-job: export GRAVELER_DATA ?= $(CURDIR)/.graveler

serve: $(COMMAND_INSTALLED) ## Run the whole system on this machine: http://127.0.0.1:8000
	@exec $(VENV)/bin/graveler serve --die-with-parent

accept: $(COMMAND_INSTALLED) ## Check the deployment at ENDPOINT with all that users do; ARGS="--json"
	@$(if $(ENDPOINT),,echo 'Name it, with a key pair in LAKECTL_CREDENTIALS_…: make accept ENDPOINT=https://…' >&2; exit 1)
	@LAKECTL_SERVER_ENDPOINT_URL=$(ENDPOINT) exec $(VENV)/bin/graveler doctor --write $(ARGS)

gc: install ## Collect the garbage of REPO in the running stack; ARGS="--dry-run" only looks
	@$(if $(REPO),,echo 'Name the repository: make gc REPO=first' >&2; exit 1)
	@exec $(PYTHON) -m graveler_embedded.job garbage-collection --repository $(REPO) $(ARGS)

export-job: install ## Carry out the export of BRANCH of REPO by the Spark job, on the running stack
	@$(if $(and $(REPO),$(BRANCH)),,echo 'Name both: make export-job REPO=first BRANCH=main' >&2; exit 1)
	@exec $(PYTHON) -m graveler_embedded.job export --repository $(REPO) --branch $(BRANCH) $(ARGS)

# The tests start hundreds of processes: each would compile the project anew where this is set.
check test test-long durations: export PYTHONDONTWRITEBYTECODE =

# Three workers for two cores: one of them often waits. The run ends when one crashes: with another
# in its place, xdist waits for ever.
WORKERS := --max-worker-restart 0 -n
ELSEWHERE := server or packages or browser or long
check: install ## Format, lint, types, import rules and every test that is fast
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/lint-imports
	@# The types are checked beside the tests, which leave a part of the two cores.
	$(VENV)/bin/mypy & types=$$!; \
	$(VENV)/bin/pytest -m "not ($(ELSEWHERE) or simulation or slow)" $(WORKERS) 3 --slow-tests show \
	  && tests=0 || tests=$$?; \
	wait $$types; exit $$tests

durations: install ## Write anew which tests are too slow for check: tests/slow.txt
	$(VENV)/bin/pytest -m "not ($(ELSEWHERE) or simulation)" --slow-tests write

test: check jars browser $(PAGE_INSTALLED) $(EMULATOR_INSTALLED) ## Everything: check, the slow tests, simulations, servers, a browser, synths and builds
	HYPOTHESIS_PROFILE=thorough $(VENV)/bin/pytest $(WORKERS) 3 --dist loadfile \
	  -m "(slow or simulation or hypothesis or server or packages or browser) and not long"

test-long: install jars browser $(PAGE_INSTALLED) $(CDK_INSTALLED) $(EMULATOR_INSTALLED) ## What is rare, long or exhaustive: TESTS="tests/browser …" for parts
	$(VENV)/bin/pytest -m long $(WORKERS) 2 --dist loadfile $(TESTS) || [ $$? = 5 ]
	HYPOTHESIS_PROFILE=deep $(VENV)/bin/pytest -m hypothesis $(WORKERS) 2 --timeout 7200 $(TESTS) || [ $$? = 5 ]

deployed: install $(EMULATOR_INSTALLED) ## Deploy what `make dist` writes into an emulator of AWS, and use it
	$(VENV)/bin/pytest tests/deployed

simulate: install ## Run simulated schedules for long: SEED= MINUTES= CLIENTS= MIX=
	@exec $(PYTHON) -m tests.simulation --seed $(or $(SEED),0) --minutes $(or $(MINUTES),10) \
	  --clients $(or $(CLIENTS),0) --mix "$(MIX)"

mutants: install ## Plant faults, and see whether a test finds each: ONLY=name,name
	@exec $(PYTHON) -m tests.mutants --only "$(ONLY)"

fuzz: install ## Send wrong requests for long: MINUTES= SEED=, in process or to ENDPOINT=http://…
	@exec $(PYTHON) -m tests.fuzz --seed $(or $(SEED),0) --minutes $(or $(MINUTES),10) \
	  $(if $(ENDPOINT),--endpoint $(ENDPOINT)) $(ARGS)

torture: install jars ## Kill, stop and cut off the running stack, and check its answers: MINUTES= SEED= CLIENTS=
	@exec $(PYTHON) -m bench.torture --minutes $(or $(MINUTES),3) --clients $(or $(CLIENTS),5) \
	  $(if $(SEED),--seed $(SEED)) --keep

bench: install ## Measure; prints numbers
	$(PYTHON) -m bench

COMPILE := uv pip compile --universal --python-version 3.11 --no-header
lock: ## Compile all files of requirements anew (needs uv)
	$(COMPILE) --upgrade pyproject.toml --extra serve --extra jobs --group pyproject.toml:dev -o requirements-dev.txt
	$(COMPILE) pyproject.toml --extra serve -c requirements-dev.txt -o requirements.txt
	$(COMPILE) --upgrade --group pyproject.toml:emulator -o requirements-emulator.txt
	@# Only what is in these extras: the command line's packages have no place in a function.
	for extra in server:graveler gateway:gateway jobs:jobs; do \
	  python3 -m layers.requirements $${extra%:*} | $(COMPILE:--universal=--python-platform linux) --no-annotate --generate-hashes \
	    - -c requirements-dev.txt -o layers/$${extra#*:}/requirements.txt; \
	done
	uvx --from 'jgo[cli]==3.2.0' jgo info deplist com.amazonaws:DynamoDBLocal:2.6.1 | $(PYTHON) -m graveler_embedded.pinning

page: install $(PAGE_INSTALLED) ## Build the web page of webui/ into graveler_functions/web/page (needs node)
	@mkdir -p build
	@$(PYTHON) -c 'from graveler_functions.api.all_operations import document as of; print(of("/api/v1"))' >build/openapi.json
	@cd webui && npm run types -- ../build/openapi.json --output src/api/schema.d.ts
	@npm --prefix webui run build
	@$(PYTHON) -m tests.architecture.web_sources

# setuptools takes all of build/lib into a wheel, and would keep modules that were deleted.
wheel: | $(PYTHON) ## Build the package that users install: dist/graveler-<version>-py3-none-any.whl
	@rm -rf build/lib dist/graveler-*.whl
	@$(PYTHON) -m pip wheel --disable-pip-version-check --quiet --no-deps --wheel-dir dist .
	@ls dist/graveler-*.whl

launcher: install ## Compile the launcher of DynamoDB Local into graveler_embedded/launcher/launcher.jar
	@$(PYTHON) -m graveler_embedded.launcher_build

# Without windows, a page costs a quarter of the processor time; the tests take the other one as well.
CHROMIUM := apt-get install --yes chromium-headless-shell
BROWSER := command -v chromium-headless-shell || command -v chromium
browser: ## Install the browser of the tests, Debian's chromium without windows, if there is none
	@{ $(BROWSER); } >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; } || \
	  { echo "chromium is missing; on Debian, as root: $(CHROMIUM)" >&2; exit 1; }
	@{ $(BROWSER); } >/dev/null || { apt-get update && $(CHROMIUM); }

layer: install ## Build the Lambda layer, for arm64 and x86_64, and the jobs' archive into build/
	$(PYTHON) -m layers.build

# The stage, and settings of infra/settings that go over cdk.json: SET="alarm_email=ops@example.com …"
STAGE ?= dev
synth: install ## Write CloudFormation's templates of STAGE (dev or prod) into build/cdk.out
	$(PYTHON) -m layers.build --for-synth
	$(PYTHON) -m infra.synth $(STAGE) $(SET)

dist: install ## Write a folder that deploys STAGE without this checkout or CDK: build/dist/<name>
	$(PYTHON) -m layers.build --for-synth
	$(PYTHON) -m infra.dist $(STAGE) $(SET)

# The tests that run the embedded stack and the jobs, for some ten minutes; the roles of a deployment
# are held against what they did (tests/infra/test_role_permissions.py).
ACTIONS := tests/infra/actions.txt
RECORDED := tests/acceptance tests/seeds tests/integration/test_local_delivery.py tests/integration/test_export_job.py \
  $(wildcard tests/integration/test_garbage_collection*.py)
actions: install jars ## Record anew which permissions functions and jobs need
	@rm -f $(ACTIONS).new
	GRAVELER_OBSERVER=tests.support.checks.actions:record RECORDED_ACTIONS=$(CURDIR)/$(ACTIONS).new \
	  $(VENV)/bin/pytest -m server $(RECORDED)
	@LC_ALL=C sort -u $(ACTIONS).new >$(ACTIONS)
	@rm $(ACTIONS).new

docs: install ## Write the tables of documents that are made from the code
	@$(PYTHON) -m tests.architecture.page_tables
	@$(PYTHON) -m bench.cost_page

format: install ## Format the code and mend what the linter can mend
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

install: $(PYTHON_INSTALLED) $(COMMAND_INSTALLED)
jars: $(PYTHON_INSTALLED) ## Fetch the stores' programs ahead, into GRAVELER_JARS
	@$(PYTHON) -m graveler_embedded.fetching dynamodb s3proxy spark ecj

$(PYTHON_INSTALLED): $(RUNTIME_INSTALLED)

# On some systems python3 is older, and a newer Python is beside it.
NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
SYSTEM_PYTHON = $(shell for each in python3 python3.1{4,3,2,1}; do \
  $$each $(NEW_ENOUGH) 2>/dev/null && echo $$each && break; done)
$(PYTHON):
	@$(or $(SYSTEM_PYTHON),echo "Python 3.11 or newer is needed; on Debian: apt install python3 python3-venv" >&2; false) \
	  -m venv $(VENV)

$(VENV)/.%: % | $(PYTHON)
	@echo "Installing $< into $(VENV)"
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m ensurepip
	@$(PYTHON) -m pip install --disable-pip-version-check --require-virtualenv -r $<
	@touch $@

$(EMULATOR_INSTALLED): requirements-emulator.txt $(PYTHON_INSTALLED)
	@$(PYTHON) -m tests.support.servers.emulator
	@touch $@

$(COMMAND_INSTALLED): pyproject.toml $(RUNTIME_INSTALLED)
	@echo "Installing the command $@"
	@$(PYTHON) -m pip install --disable-pip-version-check --require-virtualenv --quiet --no-deps --editable .
	@touch $@

$(PAGE_INSTALLED) $(CDK_INSTALLED): %node_modules/.package-lock.json: %package-lock.json
	@command -v npm >/dev/null || \
	  { echo "npm is missing, which installs $@; on Debian: apt install nodejs npm" >&2; exit 1; }
	@npm ci --prefix ./$* --no-audit --no-fund
	@touch $@
