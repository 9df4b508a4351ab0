# Everything is a line of go commands; see CONTRIBUTING.md.
FUZZTIME ?= 30s

.PHONY: test lint fuzz bench golden build

build:
	go build -trimpath -ldflags "-s -w" -o bin/helve ./cmd/helve

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

# Writes what models and people are shown into the golden files.
golden:
	go test ./internal/builtin ./internal/cli ./tool -update
