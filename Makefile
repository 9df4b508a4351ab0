# Everything is a line of go commands; see CONTRIBUTING.md.
FUZZTIME ?= 30s

.PHONY: test lint fuzz bench bench-search golden build

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/helve ./cmd/helve

test:
	./check

lint:
	gofmt -s -l $$(git ls-files '*.go')
	go vet ./...
	go tool staticcheck ./...

# Every fuzz target in turn, each for FUZZTIME.
fuzz:
	.ci/fuzz $(FUZZTIME)

# The figures of docs/benchmarks.md.
bench:
	go test -run '^$$' -bench . ./...

# Searches side by side with ripgrep 15 and 13. BENCHFLAGS=--quick for a look.
bench-search: build
	HELVE_RG15=$$(.ci/ripgrep15 || true) go run ./cmd/bench-search --helve bin/helve $(BENCHFLAGS)

# Writes what models and people are shown into the golden files.
golden:
	go test ./internal/builtin ./internal/cli ./tool -update
