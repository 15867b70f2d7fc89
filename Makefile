# One command for each thing a person does here. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# As many processes as there are cores, up to four: the products that tests start want their share too.
PYTEST := $(BIN)/python -m pytest -q -n auto --maxprocesses=4 --dist worksteal
CRATES := server/native bench/generator
READY := $(VENV)/.ready
SYSTEM := $(VENV)/.system
API ?= 127.0.0.1:6443
DNS ?= 127.0.0.1:5353
DATA ?= .dns-api
# The tests start hundreds of processes: each finds the modules compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test test-slow test-endurance test-kube test-kube-short fuzz test-pure lint lint-native format bench bench-qps bench-load bench-update bench-tcp bench-transfer bench-tls bench-scaling bench-flood bench-controllers bench-ownership bench-probe bench-endpoint bench-cluster bench-coredns manifests sbom clean

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## Make .venv with everything, system packages too

$(SYSTEM): docs/system-packages.txt
	@echo "==> system packages ($$(grep -vc '^#' docs/system-packages.txt))"
	@tools/system-packages docs/system-packages.txt
	@mkdir -p $(VENV) && touch $@

$(READY): pyproject.toml server/native/Cargo.toml $(wildcard server/native/src/*.rs) tests/tools/kubectl.py | $(SYSTEM)
	@echo "==> Python environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@echo "==> Python packages"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev]'
	@echo "==> kubectl and helm"
	@$(BIN)/python -m tests.tools.kubectl $(BIN)
	@touch $@

run: setup ## Run everything on this machine with the example zone
	@$(BIN)/dns-api up --api $(API) --dns $(DNS) --data-dir $(DATA) -f examples/hosted

test: setup ## The fast tests
	@echo "==> tests"
	@$(PYTEST)

test-slow: setup ## The long suites; DNS_API_DATA names a folder of real zones for some of them
	@echo "==> long tests"
	@$(PYTEST) -m 'slow and not endurance' -k 'not fuzz' --timeout=900 --durations=10

test-endurance: setup ## The longest suites, for a quiet machine
	@echo "==> endurance tests"
	@$(BIN)/python -m pytest -q -m endurance --durations=10

fuzz: setup ## Random input at the name server and the API
	@echo "==> fuzz"
	@$(PYTEST) -m 'slow and not endurance' -k fuzz --timeout=900 --durations=10

test-kube: setup ## The product on a real kube-apiserver and etcd (needs go)
	@echo "==> kube-apiserver, kube-controller-manager and etcd in .kube-real (built once, some minutes)"
	@$(BIN)/python -m tests.cluster .kube-real

test-kube-short: setup ## The part of test-kube that takes minutes only
	@echo "==> kube-apiserver, kube-controller-manager and etcd in .kube-real (built once, some minutes)"
	@$(BIN)/python -m tests.cluster .kube-real --short

test-pure: setup ## The name server's tests again, without the native data plane
	@echo "==> tests in Python alone"
	@DNS_API_PURE_PYTHON=1 $(PYTEST) tests/server

lint: setup ## Style, types and layers
	@echo "==> ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "==> mypy"
	@$(BIN)/mypy
	@if command -v cargo >/dev/null; then $(MAKE) --no-print-directory lint-native; else echo "==> no cargo: Rust is not checked"; fi
	@echo "==> layers and manifests"
	@$(BIN)/python -m pytest -q tests/rules

lint-native: # Style of the Rust code, and its own tests
	@echo "==> cargo fmt and clippy"
	@for crate in $(CRATES); do \
		cargo fmt --check --manifest-path $$crate/Cargo.toml; \
		cargo clippy --quiet --locked --manifest-path $$crate/Cargo.toml -- -D warnings; done
	@RUSTFLAGS="-C link-arg=-Wl,--unresolved-symbols=ignore-all" cargo test --quiet --locked \
		--manifest-path server/native/Cargo.toml --target-dir server/native/target/test

format: setup ## Write the code in house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@if command -v cargo >/dev/null; then for crate in $(CRATES); do cargo fmt --manifest-path $$crate/Cargo.toml; done; fi

manifests: setup ## Write crds/, the chart's generated files, config/ and the runbooks
	@$(BIN)/python -m controllers.manifests crds
	@$(BIN)/python -m tests.helm.generate

sbom: setup ## Write sbom.json (CycloneDX) of what .venv holds
	@$(PYTHON) -m venv build/sbom && build/sbom/bin/pip install -qq --disable-pip-version-check cyclonedx-bom==7.5.0
	@build/sbom/bin/cyclonedx-py environment $(VENV) --pyproject pyproject.toml --mc-type application --of JSON -o sbom.json

bench-qps: setup ## Queries a second beside NSD, Knot, BIND and PowerDNS, where they are installed (needs cargo and two cores)
	@$(BIN)/python -m bench qps

bench-load bench-update bench-tcp bench-transfer bench-tls bench-scaling bench-flood bench-controllers bench-ownership bench-probe bench-endpoint bench-cluster: bench-%: setup ## One other figure, beside the same
	@$(BIN)/python -m bench $*

bench-coredns: setup ## Build CoreDNS, so that it stands beside the others (needs go)
	@$(BIN)/python -m bench.coredns

bench: setup ## Every benchmark, with its figures and bars
	@$(BIN)/python -m bench

clean: ## Remove what the other commands made
	rm -rf $(VENV) $(DATA) build dist *.egg-info server/native/target bench/generator/target server/*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
