# Every target works on a fresh machine with Go, git, make and a C compiler.
# What else it needs is built into bin/, once.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

# One setting for everything, so that builds and tests share the build cache.
export CGO_ENABLED := 0

BIN := $(CURDIR)/bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
# The exporter of traces brings gRPC along. Its debug pages, which nobody serves,
# use templates, for which the linker would keep 14 MB of methods.
TAGS := grpcnotrace
INSTALL := test/tools/install.sh
MODULES := . test

.PHONY: help
help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

.PHONY: demo
demo: build ## Two clusters, one shared target group: see who owns what (KEEP=1 leaves it up)
	@$(INSTALL) etcd kubernetes kwok
	@cd test && go build -o $(BIN)/demo ./cmd/demo && exec $(BIN)/demo

.PHONY: soak
soak: build ## Real parts that fail for DURATION (5m), with faults drawn from SEED
	@$(INSTALL) etcd kubernetes kwok
	@cd test && go build -o $(BIN)/soak ./cmd/soak && exec $(BIN)/soak

.PHONY: test
test: build ## Run every test, with one summary
	@$(INSTALL) etcd kubernetes kwok dynalite gotestsum chromium hugo
	@$(BIN)/gotestsum --format pkgname --format-hide-empty-pkg --raw-command -- test/tools/test.sh

.PHONY: unit
unit: ## Run the tests that need no control plane: seconds
	go test ./...

.PHONY: bench
bench: build ## Measure passes, starts, growth and other methods, and draw docs/performance (half an hour)
	@$(INSTALL) etcd kubernetes
	cd test && go test -run '^$$' -bench Replace -benchtime 20x ./bench/...
	cd test && go test -run '^$$' -bench ColdStart -benchtime 1x ./bench/...
	@rm -f $(BIN)/bench.txt
	cd test && go test -run '^$$' -bench Neighbours ./bench | tee -a $(BIN)/bench.txt
	cd test && go test -run '^$$' -bench 'Fleet|Crowd|Scale' -benchtime 1x -timeout 40m ./bench | tee -a $(BIN)/bench.txt
	cd test && go run ./cmd/plot -to ../docs/performance $(BIN)/bench.txt
	cd test && go test -run '^$$' -bench Compare -benchtime 1x -timeout 30m ./bench -figures $(BIN)/bench.json

.PHONY: chaos
chaos: ## Simulate clusters in trouble (SEEDS=4000 runs, about 3 million steps), and compare methods
	@cd test && go run ./cmd/chaos -seeds $(or $(SEEDS),4000)

.PHONY: mutants
mutants: ## Take the protocol's rules away one by one: each time a test has to fail
	@$(INSTALL) etcd kubernetes
	@cd test && go run ./mutants

.PHONY: verify-protocol
verify-protocol: ## Check the model of the protocol with spin, and that each rule is needed
	@$(INSTALL) spin
	@cd test && go run ./cmd/verify-protocol

.PHONY: build
build: ## Build the controller and targetctl into bin/
	@go build -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/controller ./cmd/targetctl

.PHONY: generate
generate: ## Write the CRD, the roles and the deep copies from the code, and the chart's README.md from its values
	@$(INSTALL) controller-gen helm-docs
	go generate ./...
	@$(BIN)/helm-docs --chart-search-root charts --log-level warning

.PHONY: lint
lint: generate ## gofmt, vet, import rules, shell, Terraform, generated files up to date
	@$(INSTALL) golangci-lint shellcheck tflint
	@for module in $(MODULES); do echo "lint: $$module"; (cd $$module && $(BIN)/golangci-lint run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...); done
	@git diff --exit-code --stat -- controller/api charts docs/reference || { echo "lint: generated files are out of date; commit what make generate wrote" >&2; exit 1; }
	@PATH=$$PATH:$(BIN); if command -v shellcheck >/dev/null; then shellcheck test/tools/*.sh .ci/run; else echo "lint: there is no shellcheck, so shell scripts are NOT checked" >&2; fi
	@$(BIN)/tflint --chdir terraform --recursive

.PHONY: docs
docs: ## Build the site of docs/ into bin/site and check every link (hugo takes 4 minutes, once)
	@$(INSTALL) hugo
	@cd test && go test -count=1 ./docs
	@HUGO_CACHEDIR=$(BIN)/.hugo $(BIN)/hugo --config docs/site/hugo.toml --destination $(BIN)/site --cleanDestinationDir --noBuildLock --quiet
	@echo "docs: open bin/site/index.html"

.PHONY: tools
tools: ## Build all tools into bin/ (the first time takes about 25 minutes)
	@$(INSTALL)

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(BIN) test/dynalite/node_modules
