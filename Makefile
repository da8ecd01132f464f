# hudiscope. "make" lists the targets; docs/development.md says more.

GO      ?= go
PORT    ?= 8080
TABLES  ?=
# Reference tables with Apache Hudi's own answers, for "make gold".
SHARED  ?= ../shared
FUZZTIME ?=
# Quality of the compressed copies of the page's files.
BROTLI  ?= 9

MODFILE := .cache/trim/go.mod
# Packages that no row and no frame waits for: without inlining they are smaller in .wasm files.
COLD    := core/anatomy core/compare core/evolve core/explorer core/handoff core/health core/history core/instants \
	core/query core/skipping fsadapter/... web/app web/view
WASM    := GOOS=js GOARCH=wasm $(GO) build -modfile=$(MODFILE) -trimpath -buildvcs=false -ldflags='-s -w' $(foreach p,$(COLD),-gcflags=hudiscope/$(p)=-l)

export SHARED FUZZTIME

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

.PHONY: run
run: build ## build everything and serve it on http://localhost:8080 (PORT=…, TABLES="DIR …")
	@echo "serving http://localhost:$(PORT)"
	@exec bin/hudiscope serve --addr localhost:$(PORT) $(TABLES)

.PHONY: build
build: dist ## the command with the page inside: bin/hudiscope
	$(GO) build -trimpath -tags embedsite -o bin/hudiscope ./cmd/hudiscope

.PHONY: dist
dist: wasm ## the page, for any static web server: dist/ (BROTLI=11: a tenth smaller, minutes longer)
	@$(GO) run ./tools/dist -out dist -wasm .cache/wasm -embed web/httpapi/site/dist -brotli $(BROTLI)

.PHONY: wasm
wasm: trim ## the programs of the page: .cache/wasm/*.wasm
	$(WASM) -o .cache/wasm/app.wasm ./wasm/app
	$(WASM) -o .cache/wasm/engine.wasm ./wasm/engine
	$(WASM) -o .cache/wasm/engine-orc.wasm ./wasm/engineorc
	@$(GO) run ./tools/shrink .cache/wasm/app.wasm .cache/wasm/engine.wasm .cache/wasm/engine-orc.wasm

.PHONY: reproducible
reproducible: ## build page and worker twice, in two folders with empty caches, and compare every file
	@$(GO) run ./tools/reproducible

.PHONY: edge
edge: trim ## the edge worker: bin/edge/
	@mkdir -p bin/edge
	@$(GO) run ./tools/edge -out bin/edge
	$(WASM) -o bin/edge/app.wasm ./wasm/edge
	@$(GO) run ./tools/shrink bin/edge/app.wasm

.PHONY: trim
trim: ## smaller copies of four modules, for .wasm builds: .cache/trim/
	@$(GO) run ./tools/trim

.PHONY: test
test: ## every test there is; the last line counts them
	@$(GO) run ./tools/testall

.PHONY: test-go
test-go: trim ## Go tests
	$(GO) test ./...

.PHONY: race
race: ## Go tests with the race detector, counted
	@$(GO) run ./tools/testall -only go

.PHONY: test-wasm
test-wasm: ## the tests of core as WebAssembly under Node, counted
	@$(GO) run ./tools/testall -only wasm

.PHONY: test-edge
test-edge: edge ## the edge worker on workerd (needs Node and npm)
	@$(GO) run ./tools/testall -only edge

.PHONY: test-e2e
test-e2e: build ## the page in Chromium (needs Node, npm; installs Chromium where it can)
	@$(GO) run ./tools/testall -only e2e,measured

.PHONY: test-servers
test-servers: build edge ## tables on real servers and stores; installs what it can, counted
	@SERVERS=all $(GO) run ./tools/testall -only servers -limit 1h

.PHONY: trim-test
trim-test: trim ## the trimmed Parquet reader gives the published one's values
	$(GO) test -count=1 -v -run . ./tools/trim

.PHONY: vet
vet: trim ## go vet, native and js/wasm
	$(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) vet -modfile=$(MODFILE) ./core/... ./fsadapter/... ./web/... ./wasm/...

.PHONY: lint
lint: ## gofmt, go vet and staticcheck, native and js/wasm
	@$(GO) run ./tools/testall -only lint

.PHONY: fmt
fmt: ## format the Go code
	gofmt -w cmd core fsadapter tools wasm web

.PHONY: fuzz-smoke
fuzz-smoke: ## every fuzz target for 3 seconds (FUZZTIME=…)
	@$(GO) run ./tools/testall -only fuzz

.PHONY: fuzz
fuzz: ## every fuzz target for a minute; inputs that reach new code are kept in testdata/fuzz (FUZZTIME=… FUZZONLY=PATTERN)
	@FUZZKEEP=1 FUZZTIME=$(or $(FUZZTIME),1m) $(GO) run ./tools/testall -only fuzz -limit 6h

.PHONY: mutations
mutations: ## faults in every table of testdata, N=2 of each kind, and the table of docs/robustness.md (N=… HUDISCOPE_TESTDATA=DIR)
	@mkdir -p .cache
	@HUDISCOPE_MUTATIONS=$(or $(N),2) $(GO) test -count=1 -run '^TestMutations$$' -v -timeout 3h ./core/robust > .cache/mutations.log; code=$$?; \
	grep -aE '^ *\||^    [a-z]+_test.go|^(ok|FAIL|panic)' .cache/mutations.log; exit $$code

.PHONY: bench
bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: growth
growth: dist ## time and memory over 10 to 100,000 instants and files, and logs to 2 GiB: docs/benchmarks.md (5 GB in .cache/growth)
	cd web/e2e && npm ci --no-audit --no-fund --silent
	@mkdir -p .cache && $(GO) build -o .cache/growth-tool ./tools/growth && .cache/growth-tool

.PHONY: bench-peers
bench-peers: build ## against hudi-rs, pyarrow, goavro, hyparquet and parquet-wasm; the pool; first rows: docs/benchmarks.md (SHARED=DIR, PARTS=…)
	@$(GO) run ./tools/bench -shared $(SHARED) -only "$(PARTS)"

.PHONY: size
size: build edge ## sizes against tools/size/budgets.txt, with brotli
	@$(GO) run ./tools/size -brotli

.PHONY: gold
gold: build ## every answer of the command against Apache Hudi's own (SHARED=DIR)
	python3 $(SHARED)/tools/check_gold.py --bin ./bin/hudiscope --jobs 2

HANDOFF := .cache/handoff
.PHONY: handoff-real
handoff-real: ## the code of hand-offs with PySpark and hudi-rs themselves, over the test tables (needs Java 17, Maven, Python 3)
	@test -d $(HANDOFF)/venv || python3 -m venv $(HANDOFF)/venv
	@$(HANDOFF)/venv/bin/pip install --quiet hudi==0.5.0 pyarrow pyspark==3.5.6
	@test -s $(HANDOFF)/hudi-spark3.5-bundle_2.12-1.2.0.jar || mvn -q -B dependency:copy -Dartifact=org.apache.hudi:hudi-spark3.5-bundle_2.12:1.2.0 -DoutputDirectory=$(abspath $(HANDOFF))
	HANDOFF_PYTHON=$(abspath $(HANDOFF))/venv/bin/python HANDOFF_SPARK_JAR=$(abspath $(HANDOFF))/hudi-spark3.5-bundle_2.12-1.2.0.jar $(GO) test -count=1 -v -run HandoffReal -timeout 90m ./cmd/hudiscope

.PHONY: gold-subset
gold-subset: build ## the part of it that must pass (SHARED=DIR)
	@$(GO) run ./tools/testall -only gold

.PHONY: screenshots
screenshots: build ## pictures of every view, wide and narrow, light and dark: web/e2e/screenshots/
	cd web/e2e && npm ci --no-audit --no-fund && npm run screenshots

.PHONY: screens
screens: dist ## the pictures that the browser tests compare views with, taken anew: web/e2e/screens/ (ONLY="rows timeline")
	cd web/e2e && npm ci --no-audit --no-fund --silent && node screens.test.mjs --update $(ONLY)

.PHONY: soak
soak: build ## a long visit in Chromium: 200 tables, then ten minutes of anything (SOAK_TABLES=… SOAK_SECONDS=… SOAK_SEED=…)
	cd web/e2e && npm ci --no-audit --no-fund && SOAK_TABLES=$(or $(SOAK_TABLES),200) SOAK_SECONDS=$(or $(SOAK_SECONDS),600) node --test soak.test.mjs

.PHONY: clean
clean: ## remove everything that was built
	rm -rf bin dist .cache web/httpapi/site/dist web/e2e/node_modules wasm/edge/test/node_modules
