# Everything is a line of go commands; see CONTRIBUTING.md.
FUZZTIME ?= 30s

.PHONY: FORCE test check-long lint fuzz bench bench-page golden build conformance mcp-clients mcp-servers mcp-proof api picture recording prove prove-page hold soak site man commands release deb release-test cross-vet

# The programs that measure, prove and generate: a module of their own, which
# the product never needs.
bin/lab/%: FORCE
	go build -C lab -o ../bin/lab/ ./$*
FORCE:

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/helve ./cmd/helve

test:
	./check

# Every matrix and repetition in full, which takes more than half an hour.
check-long:
	./check -long

lint:
	gofmt -s -l $$(git ls-files '*.go')
	go vet ./...
	go vet -C lab ./...
	.ci/lint

# Every fuzz target in turn, each for FUZZTIME.
fuzz:
	.ci/fuzz $(FUZZTIME)

# The figures of docs/benchmarks.md, all of them or those of PART; then the page.
# All of them take two hours and a quiet machine. "bin/lab/bench list" tells
# what there is.
bench: bin/lab/bench
	bin/lab/bench run $(PART)

# The page alone, from docs/benchmarks.json.
bench-page: bin/lab/bench
	bin/lab/bench render

# MCP against programs of other people, which npm has to bring: the conformance
# suite and the inspector, three agents, two servers, and all of these for
# docs/conformance.md.
conformance: build bin/lab/conformance
	tools=$$(.ci/mcp-tools suite) && bin/lab/conformance suites --tools "$$tools" --helve bin/helve

mcp-clients: build bin/lab/conformance
	tools=$$(.ci/mcp-tools clients) && bin/lab/conformance clients --tools "$$tools" --helve bin/helve

mcp-servers: bin/lab/conformance
	tools=$$(.ci/mcp-tools suite) && bin/lab/conformance servers --tools "$$tools"

mcp-proof: build bin/lab/conformance
	suite=$$(.ci/mcp-tools suite) && clients=$$(.ci/mcp-tools clients) && \
		bin/lab/conformance all --tools "$$suite:$$clients" --helve bin/helve --out docs/conformance.md

# The OpenAPI document and the clients, from the server's Go types.
api: bin/lab/api-gen
	bin/lab/api-gen

# The picture of the console in the README.
picture:
	HELVE_PICTURE=$(CURDIR)/docs/console.png go test -count=1 -run TestBrowsePicture ./internal/console

# The moving picture of the README. It takes Linux, tmux and termtosvg.
recording: build
	lab/recording.sh

# Every promise with its tests and what came of them, for docs/promises.md.
# PROVEFLAGS=--long for thousands of kills.
prove: bin/lab/prove
	bin/lab/prove run $(PROVEFLAGS)

# The page of promises alone, from docs/promises.json.
prove-page: bin/lab/prove
	bin/lab/prove render

# The figures to hold, with the real command: the parts hold-… of make bench.
hold: bin/lab/bench
	bin/lab/bench run hold

# Half an hour of everything at once, with faults. SOAKFLAGS=--quick for a look.
soak: bin/lab/soak
	bin/lab/soak $(SOAKFLAGS)

# The documentation as a site in bin/site, which opens in a browser as it is
# and needs no server. It takes Hugo (Debian's package hugo, or newer).
site:
	@command -v hugo >/dev/null || { echo "make site: there is no hugo on the PATH. Install Hugo: Debian's package hugo, or newer (https://gohugo.io)." >&2; exit 1; }
	hugo --source site --cleanDestinationDir --noBuildLock

# Manual pages in bin/man, and docs/commands.md, from the command itself.
man: bin/lab/docs-gen
	bin/lab/docs-gen man bin/man

commands: bin/lab/docs-gen
	bin/lab/docs-gen commands

# Writes what models and people are shown into the golden files.
golden:
	go test ./internal/builtin ./internal/cli ./tool -update

# What people install, for every system, in bin/release; the same with tests
# (RELEASEFLAGS="--only linux/amd64" for less); and the Debian package of this
# machine alone.
release: bin/lab/release
	tools=$$(.ci/release-tools) && bin/lab/release build --tools "$$tools" $(RELEASEFLAGS)

release-test:
	.ci/release-test $(RELEASEFLAGS)

deb: bin/lab/release
	tools=$$(.ci/release-tools) && bin/lab/release build --tools "$$tools" --only linux/$$(go env GOARCH)

# All packages and their tests, as far as they are for other systems.
cross-vet:
	.ci/cross-vet
